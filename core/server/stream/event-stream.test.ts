import { once } from "node:events"
import { createServer, get, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import type { UserId } from "../../protocol/ids.ts"
import { keepAliveOf, writeEventStream } from "./event-stream.ts"
import type { OpenSource, SentFrame } from "./frame-source.ts"
import { TurnedClock } from "../../../test/support/loop/world.ts"

/** How long one watcher's frame takes to write. */
const WORK_MS = 25
const WATCHERS = 8

test("a long chunk for many watchers is written over many turns with other work between; a watcher without access is disconnected meanwhile", async () => {
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
  const pulse = keepAliveOf(new TurnedClock())
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
  // A watcher whose turn has not come yet never gets the frame.
  const seen = written.length
  sources.at(-1)?.onEnded?.()
  await expect.poll(() => [...read.values()].filter((text) => text.includes("long"))).toHaveLength(WATCHERS - 1)
  expect(seen).toBeLessThan(WATCHERS)
  expect(new Set(written).size).toBeGreaterThan(WATCHERS / 2)
  clearImmediate(counting)
  server.closeAllConnections()
  server.close()
})

test("each sends a heartbeat every seven seconds after it joined, from one timer, which stops with the last", async () => {
  const clock = new TurnedClock()
  let alarms = 0
  const { alarm } = clock
  clock.alarm = (ms, ring) => {
    alarms++
    return alarm.call(clock, ms, ring)
  }
  const began = clock.now()
  const beats: Record<string, number[]> = { early: [], late: [] }
  const join = (name: string) => keepAliveOf(clock).join(() => beats[name]?.push(clock.now() - began))
  const leaveEarly = join("early")
  await clock.turn(3000)
  const leaveLate = join("late")
  await clock.turn(18_000)
  expect(beats).toEqual({ early: [7000, 14_000, 21_000], late: [10_000, 17_000] })
  leaveEarly()
  leaveEarly() // a second call has no effect
  await clock.turn(7000)
  expect(beats.early).toHaveLength(3)
  expect(beats.late).toHaveLength(3)
  leaveLate()
  alarms = 0
  await clock.turn(60_000)
  expect(alarms).toBe(0)
})
