import { expect, test } from "vitest"
import { OtlpReceiver } from "../../test/support/telemetry/otlp-receiver.ts"
import { tellingTo } from "../../test/support/telemetry/told-server.ts"
import type { Clock } from "../agent/clock.ts"
import type { RunId } from "../protocol/ids.ts"
import { openSending } from "./send-spans.ts"
import type { RunSpan } from "./span.ts"

const span: RunSpan = {
  ...{ run: "run_1" as RunId, id: "00f067aa0ba902b7", parent: undefined, name: "step", kind: "internal" },
  ...{ from: 0, to: 1, attributes: {} },
}

/** Nobody waits: each alarm rings at once. */
const clock: Clock = {
  now: () => 0,
  alarm(_ms, ring) {
    queueMicrotask(ring)
    return () => {}
  },
}
const open = (url: string) => openSending(tellingTo(url), { clock, version: "1" })

test("a receiver that is busy is sent the same again", async () => {
  let count = 0
  await using receiver = await OtlpReceiver.open((response) => response.writeHead(++count < 3 ? 503 : 200).end("…"))
  using sending = await open(receiver.url)
  await sending.send([span])
  expect(receiver.spans.map(({ spanId }) => spanId)).toEqual([span.id, span.id, span.id])
})

test.each([
  [400, {}],
  [302, { location: "/elsewhere" }],
])("one that answers %d is not asked again, nor anybody else", async (status, headers) => {
  await using receiver = await OtlpReceiver.open((response) => response.writeHead(status, headers).end())
  using sending = await open(receiver.url)
  await expect(sending.send([span])).rejects.toThrow()
  expect(receiver.requests.map(({ path }) => path)).toEqual(["/v1/traces"])
})

test("what is under way is broken off at the end, and so is an answer that has none", async () => {
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
