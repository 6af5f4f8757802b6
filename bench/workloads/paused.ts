import { setTimeout as sleep } from "node:timers/promises"
import type { Contender, OpenOptions } from "../contender.ts"
import { check, folderBytes, median, type Numbers, quantile, same, settledHeap } from "../meters.ts"
import { expected, finalText, userText } from "../script.ts"
import type { Sizes } from "../sizes.ts"

type Open = (options?: Omit<OpenOptions, "place">) => Promise<Contender>
type Paused = Sizes["w4"] & { readonly folder: string }

const AT_ONCE = 8
/** After this time a process has loaded all code, which is not a cost of a conversation. */
const LOADED_MS = 1500
const KB = 1024

const warmCount = (paused: number) => Math.max(30, Math.floor(paused / 10))

/** W4, first process: many conversations pause for a person. Measures the cost of each while it waits. */
export async function pauseMany(open: Open, { paused, folder }: Paused): Promise<Numbers> {
  let contender = await open({ approval: true })
  await pauseSome(contender, "conv_warm", warmCount(paused))
  // Closed and opened again, so that the log is checkpointed before the disk is measured.
  await contender.close()
  const diskBefore = folderBytes(folder)
  contender = await open({ approval: true })
  await pauseSome(contender, "conv_again", AT_ONCE)
  await sleep(LOADED_MS)
  const rssBefore = process.memoryUsage().rss
  const from = performance.now()
  const half = Math.floor(paused / 2)
  await pauseSome(contender, "conv_p", half)
  const firstWall = performance.now() - from
  // Measures only the second half: V8 optimizes code that runs often, which takes a constant megabyte.
  const heapBefore = await settledHeap()
  const again = performance.now()
  await pauseSome(contender, "conv_p", paused - half, half)
  const wall = firstWall + performance.now() - again
  const heapKb = ((await settledHeap()) - heapBefore) / (paused - half) / KB
  const rssKb = (process.memoryUsage().rss - rssBefore) / paused / KB
  await contender.close()
  const diskKb = (folderBytes(folder) - diskBefore) / (paused + AT_ONCE) / KB
  return { diskKb, heapKb, rssKb, pausesPerSecond: (paused / wall) * 1000 }
}

async function pauseSome(contender: Contender, prefix: string, count: number, first = 0): Promise<void> {
  let next = first
  const lane = async () => {
    while (next < first + count) await contender.pause(`${prefix}${next++}`, userText(0))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

/** W4, second process: the person approves some of them. */
export async function resumeSome(open: Open, { paused, resumes }: Paused): Promise<Numbers> {
  const contender = await open({ approval: true })
  expected(1) // creates the script's texts before the measurement
  const times: number[] = []
  const ids = Array.from({ length: resumes }, (_, i) => `conv_p${Math.floor((i * paused) / resumes)}`)
  for (const id of ids) {
    const from = performance.now()
    const text = await contender.resume(id)
    times.push(performance.now() - from)
    check(text === finalText(0), `the answer of ${id} after its approval`)
  }
  const [first, ...others] = times
  const from = performance.now()
  const listed = await contender.countPaused()
  const listMs = performance.now() - from
  const waiting = paused + AT_ONCE + warmCount(paused) - resumes
  check(listed === undefined || listed === waiting, `paused conversations listed: ${listed} of ${waiting}`)
  await contender.close()
  const again = await open({ approval: true })
  for (const id of ids)
    check(same(await again.transcript(id), expected(1)), `the transcript of ${id} after its approval`)
  await again.close()
  return {
    firstResume: first as number,
    resume: median(others),
    resumeP99: quantile(others, 0.99),
    unlisted: listed === undefined ? waiting : waiting - listed,
    ...(listed === undefined ? {} : { listMs }),
  }
}
