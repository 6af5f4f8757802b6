import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { LoopShare } from "./loop-share.ts"

test("of streams that always have more, each turn of the event loop hands on so much of all together, in turn", async () => {
  const share = new LoopShare(10)
  const handedOn: string[] = []
  const stream = async (name: string) => {
    for (let piece = 0; piece < 4; piece++) {
      await share.take(5)
      handedOn.push(name)
    }
  }
  const all = Promise.all(["a", "b", "c"].map(stream))
  const inTurns: string[] = []
  for (let seen = 0; handedOn.length < 12; seen = handedOn.length) {
    await turn()
    inTurns.push(handedOn.slice(seen).join(""))
  }
  await all
  expect(Math.max(...inTurns.map((names) => names.length))).toBeLessThanOrEqual(4)
  expect(inTurns.length).toBeGreaterThanOrEqual(4)
  // Nobody has had two more than another.
  for (const name of ["a", "b", "c"]) expect(handedOn.slice(0, 6)).toContain(name)
})

test("where there is room nobody waits, and a piece that is larger than a turn's share comes alone", async () => {
  const share = new LoopShare(10)
  expect(share.take(100)).toBeUndefined()
  const next = share.take(1)
  expect(next).toBeInstanceOf(Promise)
  await next
  await turn()
  expect(share.take(1)).toBeUndefined()
})
