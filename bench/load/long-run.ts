import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { quantile } from "../meters.ts"
import { asksFor } from "./long-reply.ts"
import { createToken, serve, startProvider } from "./served.ts"
import { rowsThatShouldNotGrow, writtenAheadMb } from "./table-rows.ts"
import { watchText } from "./watch-text.ts"

export interface LongRun {
  readonly minutes: number
  readonly conversations: number
  /** The average time between an answer and the user's next message, which determines the load. */
  readonly thinkSeconds: number
  readonly launcher: string
  readonly folder: string
  /** Called after each stretch of time. */
  readonly onStretch?: (stretch: Stretch) => void
}

/** One stretch of the run. */
export interface Stretch {
  readonly atSeconds: number
  readonly turns: number
  /** The times of a turn over HTTP in milliseconds: the server's CPU time, and wall-clock times. */
  readonly cpuMs: number
  readonly p50: number
  readonly p99: number
  readonly rssMb: number
  readonly heapMb: number
  readonly externalMb: number
  readonly heldP99: number
  readonly heldMax: number
  readonly lateP99: number
  /** Open files and sockets, and other handles of the event loop. */
  readonly files: number
  readonly handles: number
  /** Rows of all tables that should not grow, and the size of the write-ahead log. */
  readonly rows: number
  readonly aheadMb: number
}

const STRETCHES = 24
/** Turns of a conversation before a new one replaces it. */
const TURNS = 20
/** One in this many turns is watched over its own stream. */
const WATCHED = 10
/** Warm-up: caches fill, code is compiled, the embedder is loaded. */
const WARM = { share: 0.25, seconds: 300 }

/** Runs a server for some minutes under many concurrent conversations, each with one turn after the other. */
export async function longRun(run: LongRun): Promise<Stretch[]> {
  const { minutes, conversations, thinkSeconds, launcher, folder, onStretch } = run
  await using provider = await startProvider(600, 24, 0)
  const place = { launcher, data: folder, provider: provider.url }
  const token = await createToken(place)
  await using served = await serve(place, token)
  const end = performance.now() + minutes * 60_000
  let times: number[] = []
  const isOver = () => performance.now() >= end
  // Spread: each waits for a random time, half to one and a half of the average.
  const think = () => (thinkSeconds > 0 ? sleep(thinkSeconds * 1000 * (0.5 + Math.random())) : Promise.resolve())
  const watch = async (id: string) => {
    const { position } = (await served.get(`/api/conversations/${id}`)) as { position: number }
    const url = `${served.process.url}/api/conversations/${id}/events?after=${position}`
    return watchText(url, { authorization: `Bearer ${token}` })
  }
  const lane = async () => {
    await think()
    while (!isOver()) {
      const id = await served.open()
      for (let turn = 0; turn < TURNS && !isOver(); turn++) {
        const text = turn % WATCHED === 1 ? (await watch(id)).text : undefined
        const begun = performance.now()
        await served.say(id, asksFor(turn))
        times.push(performance.now() - begun)
        await text
        await think()
      }
    }
  }
  const lanes = Promise.all(Array.from({ length: conversations }, lane))
  const file = join(folder, "pawl.db")
  const begun = performance.now()
  const stretches: Stretch[] = []
  let cpu = (await served.process.probe()).cpuMs
  for (let i = 0; i < STRETCHES; i++) {
    const until = begun + ((i + 1) * minutes * 60_000) / STRETCHES
    await Promise.race([sleep(Math.max(0, until - performance.now())), lanes])
    const { cpuMs, delayP99, ...probed } = await served.process.probe()
    const [turns, p50, p99] = [times.length, quantile(times, 0.5), quantile(times, 0.99)]
    times = []
    const { rssMb, heapMb, externalMb, heldP99, heldMax, files, handles } = probed
    const counted = rowsThatShouldNotGrow(file)
    const stretch = {
      ...{ atSeconds: (performance.now() - begun) / 1000, turns, cpuMs: (cpuMs - cpu) / turns, p50, p99 },
      ...{ rssMb, heapMb, externalMb, heldP99, heldMax, lateP99: delayP99, files, handles },
      ...{ rows: Object.values(counted).reduce((sum, rows) => sum + rows, 0), aheadMb: writtenAheadMb(file) },
    }
    stretches.push(stretch)
    onStretch?.(stretch)
    cpu = cpuMs
  }
  await lanes
  return stretches
}

/**
 * The growth of a figure over the run, relative to its start: the slope of a straight line through the values after the
 * warm-up. 0 is flat.
 */
export function growthOf(stretches: readonly Stretch[], figure: keyof Stretch): number {
  const seconds = stretches.at(-1)?.atSeconds ?? 0
  const warm = Math.min(WARM.seconds, seconds * WARM.share)
  const counted = stretches.filter((each) => each.atSeconds > warm && Number.isFinite(each[figure]))
  const mean = (of: (each: Stretch) => number) => counted.reduce((sum, each) => sum + of(each), 0) / counted.length
  const [x, y] = [mean(({ atSeconds }) => atSeconds), mean((each) => each[figure])]
  const slope =
    mean((each) => (each.atSeconds - x) * (each[figure] - y)) / mean(({ atSeconds }) => (atSeconds - x) ** 2)
  const [from, to] = [counted[0]?.atSeconds ?? 0, counted.at(-1)?.atSeconds ?? 0]
  return (slope * (to - from)) / (y + slope * (from - x))
}
