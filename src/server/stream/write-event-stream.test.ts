import { once } from "node:events"
import { createServer, get, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { TurnedClock } from "../../agent/turned-clock.fixture.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { OpenSource, SentFrame } from "./event-stream.ts"
import { pulseOf } from "./keep-alive.ts"
import { writeEventStream } from "./write-event-stream.ts"

/** What one watcher's piece takes to write. */
const WORK_MS = 25
const WATCHERS = 8

test("one long piece for many watchers is written over many turns, in which others are heard; who may no longer look is cut off meanwhile", async () => {
  let turn = 0
  let counting = setImmediate(function count() {
    turn++
    counting = setImmediate(count)
  })
  const written: number[] = []
  const long = {
    toJSON() {
      written.push(turn)
      for (const end = performance.now() + WORK_MS; performance.now() < end;);
      return "long"
    },
  }
  const said = Promise.withResolvers<readonly SentFrame[]>()
  const sources: OpenSource[] = []
  const pulse = pulseOf(new TurnedClock())
  const server = createServer((_, outgoing) => {
    const left = [said.promise, new Promise<undefined>(() => {})]
    const source: OpenSource = { user: "user_ada" as UserId, next: () => left.shift() as never, close() {} }
    sources.push(source)
    writeEventStream({ stream: { source, pulse } }, new Response(null), outgoing)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const read = new Map<IncomingMessage, string>()
  const watchers = Array.from({ length: WATCHERS }, async () => {
    const [response] = (await once(get({ port, host: "127.0.0.1", agent: false }), "response")) as [IncomingMessage]
    read.set(response, "")
    response.on("error", () => {})
    return response.on("data", (text) => read.set(response, read.get(response) + String(text)))
  })
  await Promise.all(watchers)
  said.resolve([{ id: "1", type: "text_delta", data: long }])
  await expect.poll(() => written.length, { interval: 1 }).toBeGreaterThan(0)
  // Whose turn has not come by now never sees it.
  const seen = written.length
  sources.at(-1)?.whenEnded?.()
  await expect
    .poll(() => [...read.values()].filter((text) => text.includes("long")), { timeout: 10_000 })
    .toHaveLength(WATCHERS - 1)
  expect(seen).toBeLessThan(WATCHERS)
  expect(new Set(written).size).toBeGreaterThan(WATCHERS / 2)
  clearImmediate(counting)
  server.closeAllConnections()
  server.close()
})
