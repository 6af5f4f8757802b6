import { quantile } from "../meters.ts"
import { asksFor } from "./long-reply.ts"
import { createToken, serve, startProvider } from "./served.ts"

export interface LongRun {
  readonly minutes: number
  readonly conversations: number
  readonly launcher: string
  readonly folder: string
}

/** One stretch of the run. */
export interface Stretch {
  readonly atSeconds: number
  readonly turns: number
  /** Of a turn over HTTP, in milliseconds of the server's CPU, and by the clock. */
  readonly cpuMs: number
  readonly p99: number
  readonly rssMb: number
  readonly heldP99: number
}

const STRETCHES = 24
/** Turns of a conversation before another takes its place. */
const TURNS = 20
/** The first stretches are warm-up: caches fill, code is compiled, the embedder is loaded. */
const WARM = 0.25

/** A server under so many conversations at once, each with one turn after the other, for so long. */
export async function longRun({ minutes, conversations, launcher, folder }: LongRun): Promise<Stretch[]> {
  await using provider = await startProvider(600, 24, 0)
  const place = { launcher, data: folder, provider: provider.url }
  await using served = await serve(place, await createToken(place))
  const end = performance.now() + minutes * 60_000
  let times: number[] = []
  const lane = async () => {
    while (performance.now() < end) {
      const id = await served.open()
      for (let turn = 0; turn < TURNS && performance.now() < end; turn++) {
        const begun = performance.now()
        await served.say(id, asksFor(turn))
        times.push(performance.now() - begun)
      }
    }
  }
  const lanes = Promise.all(Array.from({ length: conversations }, lane))
  const begun = performance.now()
  const stretches: Stretch[] = []
  let cpu = (await served.process.probe()).cpuMs
  for (let i = 0; i < STRETCHES; i++) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, (minutes * 60_000) / STRETCHES)), lanes])
    const { cpuMs, rssMb, heldP99 } = await served.process.probe()
    const [turns, p99] = [times.length, quantile(times, 0.99)]
    times = []
    const atSeconds = (performance.now() - begun) / 1000
    stretches.push({ atSeconds, turns, cpuMs: (cpuMs - cpu) / turns, p99, rssMb, heldP99 })
    cpu = cpuMs
  }
  await lanes
  return stretches
}

/**
 * How much a figure grows over the run, as a share of what it is at first: of a straight line through what comes after the
 * warm-up. 0 is flat.
 */
export function growthOf(stretches: readonly Stretch[], figure: keyof Stretch): number {
  const counted = stretches.slice(Math.floor(stretches.length * WARM)).filter((each) => Number.isFinite(each[figure]))
  const mean = (of: (each: Stretch) => number) => counted.reduce((sum, each) => sum + of(each), 0) / counted.length
  const [x, y] = [mean(({ atSeconds }) => atSeconds), mean((each) => each[figure])]
  const slope =
    mean((each) => (each.atSeconds - x) * (each[figure] - y)) / mean(({ atSeconds }) => (atSeconds - x) ** 2)
  const [from, to] = [counted[0]?.atSeconds ?? 0, counted.at(-1)?.atSeconds ?? 0]
  return (slope * (to - from)) / (y + slope * (from - x))
}
