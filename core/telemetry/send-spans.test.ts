import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { OtlpReceiver } from "../../test/telemetry/otlp-receiver.ts"
import { tellingTo } from "../../test/telemetry/exporting-server.ts"
import { TurnedClock } from "../engine/turned-clock.fixture.ts"
import type { RunId } from "../protocol/ids.ts"
import type { Clock } from "../shared/time/clock.ts"
import { openSpanSender, type Outcome, SpanQueue } from "./send-spans.ts"
import type { RunSpan } from "./span.ts"

const queuedSpan: RunSpan = {
  ...{ run: "run_1" as RunId, id: "1", parent: undefined, name: "step", kind: "internal" },
  ...{ from: 0, to: 1, attributes: {} },
}
const spans = (count: number) => Array.from({ length: count }, () => queuedSpan)

function openQueue(send: () => Promise<void>, maxWaiting = 1000) {
  const clock = new TurnedClock()
  const counted: Record<Outcome, number> = { sent: 0, failed: 0, dropped: 0 }
  const warnings: string[] = []
  const log = { info() {}, warn: (event: string) => void warnings.push(event), error() {} }
  const count = (outcome: Outcome, number: number) => void (counted[outcome] += number)
  return { clock, counted, warnings, queue: new SpanQueue({ send, clock, log, count, maxWaiting }) }
}

test("a receiver that never answers delays no run: spans beyond the limit are dropped and counted, and so is the rest at the end", async () => {
  const { clock, counted, queue } = openQueue(() => new Promise(() => {}))
  queue.add(spans(600)) // 512 are under way for ever
  queue.add(spans(2000))
  expect(counted).toEqual({ sent: 0, failed: 0, dropped: 1000 + 600 - 512 })
  const flushed = queue.flush(3000)
  clock.turn(3000)
  await flushed
  expect(counted.dropped).toBe(2600 - 512)
})

test("an unreachable receiver is logged once a minute, and tried with the next batch", async () => {
  let isAway = true
  const { clock, counted, warnings, queue } = openQueue(async () => {
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

const span: RunSpan = {
  ...{ run: "run_1" as RunId, id: "00f067aa0ba902b7", parent: undefined, name: "step", kind: "internal" },
  ...{ from: 0, to: 1, attributes: {} },
}

/** Every alarm rings immediately. */
const clock: Clock = {
  now: () => 0,
  alarm(_ms, ring) {
    queueMicrotask(ring)
    return () => {}
  },
}
const open = (url: string) => openSpanSender(tellingTo(url), { clock, version: "1" })

test("a batch is sent again to a busy receiver", async () => {
  let count = 0
  await using receiver = await OtlpReceiver.open((response) => response.writeHead(++count < 3 ? 503 : 200).end("…"))
  using sending = await open(receiver.url)
  await sending.send([span])
  expect(receiver.spans.map(({ spanId }) => spanId)).toEqual([span.id, span.id, span.id])
})

test.each([
  [400, {}],
  [302, { location: "/elsewhere" }],
])("one that answers %d is not asked again, nor is another receiver", async (status, headers) => {
  await using receiver = await OtlpReceiver.open((response) => response.writeHead(status, headers).end())
  using sending = await open(receiver.url)
  await expect(sending.send([span])).rejects.toThrow()
  expect(receiver.requests.map(({ path }) => path)).toEqual(["/v1/traces"])
})

test("closing aborts requests in flight, and a response that never ends", async () => {
  await using receiver = await OtlpReceiver.open((response) => {
    if (receiver.requests.length === 1) response.writeHead(200).write("an answer that goes on")
  })
  using sending = await open(receiver.url)
  await sending.send([span])
  const hanging = sending.send([span])
  while (receiver.requests.length < 2) await receiver.told(() => receiver.requests.length === 2)
  sending[Symbol.dispose]()
  await expect(hanging).rejects.toThrow()
})
