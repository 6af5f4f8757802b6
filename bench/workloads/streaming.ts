import { setTimeout as sleep } from "node:timers/promises"
import type { Contender } from "../contender.ts"
import { check, cpuMs, median, type Numbers } from "../meters.ts"
import { bareDeltas, DELTA, streamPrompt } from "../script.ts"
import type { Sizes } from "../sizes.ts"

const WARM_PASSES = 5

/** W3: many deltas in one reply, each shown as it arrives. The reply is stored at the end. */
export async function streaming(open: () => Promise<Contender>, { deltas, passes }: Sizes["w3"]): Promise<Numbers> {
  const contender = await open()
  const before = await bareMs(deltas)
  const times: number[] = []
  let cpu = 0
  for (let pass = 0; pass < WARM_PASSES + passes; pass++) {
    if (pass === WARM_PASSES) cpu = cpuMs()
    let shown = 0
    const from = performance.now()
    await contender.stream(`conv_s${pass}`, streamPrompt(deltas), (delta) => {
      shown += delta.length
    })
    if (pass >= WARM_PASSES) times.push(performance.now() - from)
    check(shown === deltas * DELTA.length, `deltas shown: ${shown / DELTA.length} of ${deltas}`)
  }
  const cpuUs = ((cpuMs() - cpu) * 1000) / (passes * deltas)
  const after = await bareMs(deltas)
  const [, reply, ...more] = await contender.transcript("conv_s0")
  check(reply?.[1] === DELTA.repeat(deltas) && more.length === 0, "the streamed text as stored")
  await contender.close()
  const perDelta = (median(times) * 1000) / deltas
  const bareUs = (Math.min(before, after) * 1000) / deltas
  return { perDelta, bareUs, overBareUs: perDelta - bareUs, cpuUs }
}

/** The time of the source of deltas alone, in the same process while the contender is idle. */
async function bareMs(deltas: number): Promise<number> {
  await sleep(50)
  const times: number[] = []
  for (let pass = 0; pass < 40; pass++) {
    let shown = 0
    const from = performance.now()
    for await (const delta of bareDeltas(deltas)) shown += delta.length
    times.push(performance.now() - from)
    check(shown === deltas * DELTA.length, "the bare generator")
  }
  return median(times.slice(10))
}
