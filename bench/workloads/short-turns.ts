import type { Contender } from "../contender.ts"
import { check, cpuMs, type Numbers, quantile, same } from "../meters.ts"
import { expected, finalText, userText } from "../script.ts"
import type { Sizes } from "../sizes.ts"

/** `countsQueries`: the contender uses PostgreSQL, so its queries per turn are counted. */
export type ShortTurns = Sizes["w1"] & { readonly countsQueries: boolean }

const CHECKED = 50
const COUNTED_TURNS = 20

/** W1: short turns, each in a new conversation, one at a time and 64 at once. */
export async function shortTurns(open: () => Promise<Contender>, settings: ShortTurns): Promise<Numbers> {
  const { warmMs, ms, countsQueries } = settings
  const contender = await open()
  let begun = 0
  const turn = async () => {
    const text = await contender.turn(`conv_t${begun++}`, userText(0), true)
    check(text === finalText(0), "the answer of a short turn")
  }

  async function phase(atOnce: number, forMs: number) {
    const times: number[] = []
    const start = performance.now()
    const cpu = cpuMs()
    const lane = async () => {
      for (let from = performance.now(); from - start < forMs; from = performance.now()) {
        await turn()
        times.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    const wall = performance.now() - start
    return {
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      perSecond: (times.length / wall) * 1000,
      cpu: (cpuMs() - cpu) / times.length,
    }
  }

  await phase(64, warmMs) // many at once, because V8 optimizes code that runs often
  const one = await phase(1, ms)
  const many = await phase(64, ms)
  const roundTrips: Numbers = countsQueries ? { roundTrips: await countRoundTrips(turn) } : {}
  await contender.close()
  await checkTranscripts(await open(), begun)
  return {
    p50: one.p50,
    p99: one.p99,
    cpu: one.cpu,
    manyPerSecond: many.perSecond,
    manyP50: many.p50,
    manyP99: many.p99,
    manyCpu: many.cpu,
    turns: begun,
    ...roundTrips,
  }
}

/** Checks the transcripts of conversations after the store was opened again. */
async function checkTranscripts(contender: Contender, begun: number): Promise<void> {
  for (let i = 0; i < CHECKED; i++) {
    const id = `conv_t${Math.floor((i * (begun - 1)) / (CHECKED - 1))}`
    check(same(await contender.transcript(id), expected(1)), `the transcript of ${id} after ${begun} short turns`)
  }
  await contender.close()
}

/** Queries to PostgreSQL per turn. `pg` waits for each, so each is a round trip. */
async function countRoundTrips(turn: () => Promise<void>): Promise<number> {
  const { Client } = (await import("pg")).default
  const { query } = Client.prototype
  let sent = 0
  Client.prototype.query = function (this: unknown, ...args: unknown[]) {
    sent++
    return Reflect.apply(query, this, args)
  } as typeof query
  for (let i = 0; i < COUNTED_TURNS; i++) await turn()
  Client.prototype.query = query
  return sent / COUNTED_TURNS
}
