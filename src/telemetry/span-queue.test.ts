import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { TurnedClock } from "../agent/turned-clock.fixture.ts"
import type { RunId } from "../protocol/ids.ts"
import { type Outcome, SpanQueue } from "./span-queue.ts"
import type { RunSpan } from "./span.ts"

const span: RunSpan = {
  ...{ run: "run_1" as RunId, id: "1", parent: undefined, name: "step", kind: "internal" },
  ...{ from: 0, to: 1, attributes: {} },
}
const spans = (count: number) => Array.from({ length: count }, () => span)

function open(send: () => Promise<void>, maxWaiting = 1000) {
  const clock = new TurnedClock()
  const counted: Record<Outcome, number> = { sent: 0, failed: 0, dropped: 0 }
  const warnings: string[] = []
  const log = { info() {}, warn: (event: string) => void warnings.push(event), error() {} }
  const count = (outcome: Outcome, number: number) => void (counted[outcome] += number)
  return { clock, counted, warnings, queue: new SpanQueue({ send, clock, log, count, maxWaiting }) }
}

test("a receiver that never answers holds up nobody: what there is no room for is dropped and counted, and so is the rest at the end", async () => {
  const { clock, counted, queue } = open(() => new Promise(() => {}))
  queue.add(spans(600)) // 512 are under way for ever
  queue.add(spans(2000))
  expect(counted).toEqual({ sent: 0, failed: 0, dropped: 1000 + 600 - 512 })
  const flushed = queue.flush(3000)
  clock.turn(3000)
  await flushed
  expect(counted.dropped).toBe(2600 - 512)
})

test("a receiver that is away is complained about once a minute, and is tried with the next batch", async () => {
  let isAway = true
  const { clock, counted, warnings, queue } = open(async () => {
    if (isAway) throw new Error("ECONNREFUSED")
  })
  for (let n = 0; n < 3; n++) {
    queue.add(spans(1))
    clock.turn(2000)
    await setImmediate() // the batch fails
  }
  expect([counted, warnings]).toEqual([{ sent: 0, failed: 3, dropped: 0 }, ["spans_not_sent"]])
  isAway = false
  queue.add(spans(5))
  await queue.flush(3000)
  expect(counted).toEqual({ sent: 5, failed: 3, dropped: 0 })
})
