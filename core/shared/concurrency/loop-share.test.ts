import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { LoopShare } from "./loop-share.ts"

/** Streams that always have more, in the order in which they started: how often each was served when one ended. */
async function servedWhenOneEnds(sizes: readonly number[], pieces: number): Promise<number[]> {
  const share = new LoopShare(2048)
  const served = sizes.map(() => 0)
  const seen: number[][] = []
  const stream = async (size: number, at: number) => {
    const take = share.join()
    for (; served[at]! < pieces; served[at]!++) await take(size)
    seen.push([...served])
  }
  await Promise.all(sizes.map(stream))
  return seen[0] ?? []
}

test("each turn of the event loop passes on a limited amount of all streams", async () => {
  const share = new LoopShare(10)
  let handedOn = 0
  const stream = async () => {
    const take = share.join()
    for (let piece = 0; piece < 4; piece++) {
      await take(5)
      handedOn++
    }
  }
  const all = Promise.all([stream(), stream(), stream()])
  const inTurns: number[] = []
  for (let seen = 0; handedOn < 12; seen = handedOn) {
    await turn()
    inTurns.push(handedOn - seen)
  }
  await all
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(4)
  expect(inTurns.length).toBeGreaterThanOrEqual(4)
})

test("the first of equal streams ends while the others are near their start, and all have made progress", async () => {
  const pieces = 100
  const [first, ...others] = await servedWhenOneEnds(Array<number>(20).fill(2048), pieces)
  expect(first).toBe(pieces)
  expect(Math.min(...others)).toBeGreaterThan(0)
  // First come, first served would be nearly all of them.
  expect(others.reduce((sum, count) => sum + count, 0)).toBeLessThan(pieces)
})

test("a stream that arrives word by word makes progress next to many fast ones, though it started last", async () => {
  const pieces = 100
  const fast = Array<number>(50).fill(2048)
  const served = await servedWhenOneEnds([...fast, 50], pieces)
  // First come, first served would be one for each of the fast ones.
  expect(served.at(-1)).toBeGreaterThan(20)
})

test("many streams that arrive word by word do not stop a fast one that started last", async () => {
  const served = await servedWhenOneEnds([2048, ...Array<number>(30).fill(50), 2048], 200)
  expect(served[0]).toBe(200)
  expect(served.at(-1)).toBeGreaterThan(0)
})

test("with free capacity nothing waits, and a piece larger than a turn's share is passed on alone", async () => {
  const take = new LoopShare(10).join()
  expect(take(100)).toBeUndefined()
  const next = take(1)
  expect(next).toBeInstanceOf(Promise)
  await next
  await turn()
  expect(take(1)).toBeUndefined()
})
