import { once } from "node:events"
import { connect } from "node:net"
import { describe, expect, test, vi } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { listen } from "../../core/server/listen.ts"
import { hangs, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { isOver, readFrames } from "../support/server/stream.ts"
import { TurnedClock } from "../support/loop/world.ts"

const [sqlite] = databases
const LONG = "Ünïcödé 😀 and words, ".repeat(6000)

/** One server for two visitors: `near` calls it as a function, `far` over a socket. */
async function open(script: readonly ScriptedReply[], clock?: TurnedClock) {
  const { url: database } = await (sqlite as (typeof databases)[number]).create()
  const face = await Face.open({ url: database, model: scripted(...script), ...(clock ? { clock } : {}) })
  const { url, close } = await listen((sent, env) => face.fetch(sent, env), { host: "127.0.0.1", port: 0 })
  const { people } = face.store
  const { token } = await people.createToken(await people.ensure("ada", 0), ["read", "chat"], 0)
  return {
    face,
    token,
    url,
    near: new Visitor((sent) => face.fetch(sent), token),
    far: new Visitor((sent) => fetch(sent), token, url),
    async [Symbol.asyncDispose]() {
      await close(0)
      await face[Symbol.asyncDispose]()
    },
  }
}

/** Counts watchers: resolves `left` when at least one has come and all have left. */
function countWatchers({ pawl }: Face) {
  const { bus } = pawl.ports
  const { subscribe } = bus
  let [here, resolve] = [0, () => {}]
  const left = new Promise<void>((done) => (resolve = done))
  vi.spyOn(bus, "subscribe").mockImplementation((id, listener) => {
    const leave = subscribe.call(bus, id, listener)
    here++
    return () => {
      leave()
      if (--here === 0) resolve()
    }
  })
  return { left }
}

describe("a stream over a socket", () => {
  test("is the same as without one: head, frames and end", async () => {
    await using server = await open([says(LONG, { chunks: 300 })])
    const { near, far } = server
    const id = await near.begin()
    await near.say(id, "go")
    const [first, second] = [await near.watch(id), await far.watch(id)]
    for (const name of ["content-type", "cache-control", "x-accel-buffering"]) {
      expect(second.headers.get(name), name).toBe(first.headers.get(name))
    }
    expect(second.headers.get("content-type")).toContain("text/event-stream")
    expect(await readFrames(second, isOver)).toEqual(await readFrames(first, isOver))
  })

  test("of a run ends with it, and the connection serves the next request", async () => {
    await using server = await open([says("One."), says("Two.")])
    const id = await server.far.begin()
    for (const said of ["One.", "Two."]) {
      const sent = { body: { text: "go" }, headers: { accept: "text/event-stream" } }
      const frames = await readFrames(
        await server.far.send("POST", `/api/conversations/${id}/messages`, sent),
        () => false,
      )
      expect(frames.at(-1)).toMatchObject({ type: "done" })
      expect(frames.find(({ type }) => type === "text_delta")?.data.text).toBe(said)
    }
  })

  test("sends something at once and at least every 15 s", async () => {
    const clock = new TurnedClock()
    await using server = await open([], clock)
    const { body } = await server.far.watch(await server.near.begin(), "1")
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    const texts = [new TextDecoder().decode((await reader.read()).value)]
    for (let seconds = 0; seconds < 60; seconds += 15) {
      await clock.turn(15_000)
      texts.push(new TextDecoder().decode((await reader.read()).value))
    }
    // Several writes of one turn of the clock may arrive in one piece.
    for (const text of texts) expect(text).toMatch(/^(:\n\n)+$/)
    await reader.cancel()
  })

  test("ends when its watcher disconnects", async () => {
    await using server = await open([hangs("Half of the ")])
    const { left } = countWatchers(server.face)
    const id = await server.near.begin()
    await server.face.pawl.runtime.submit(id as ConversationId, {
      type: "message",
      id: "msg_a" as never,
      text: "go",
      when: "queue",
    })
    const response = await server.far.watch(id)
    await readFrames(response, (seen) => seen.at(-1)?.type === "text_delta") // leaves with what it has seen
    await left
  })

  test("ends at once if only its head was requested", async () => {
    await using server = await open([])
    const { left } = countWatchers(server.face)
    const id = await server.near.begin()
    const { status, text } = await server.far.ask("HEAD", `/api/conversations/${id}/events`)
    expect([status, text]).toEqual([200, ""])
    await left
  })

  test("that cannot read on is cut off, without an effect on other watchers", async () => {
    await using server = await open([says("Hello.")])
    const { near, far, face } = server
    const id = await near.begin()
    await near.say(id, "go")
    vi.spyOn(face.pawl.ports.journal as Journal, "readPage").mockRejectedValueOnce(new Error("disk"))
    const watching = far.watch(id).then((response) => readFrames(response, isOver))
    await expect(watching).rejects.toThrow() // in the head or behind it, whatever had gone out by then
    expect((await readFrames(await far.watch(id), isOver)).at(-1)?.type).toBe("done")
  })

  test("to a watcher that has disconnected before the answer leaves nothing behind", async () => {
    await using server = await open([])
    const { face, near, token, url } = server
    const id = await near.begin()
    const { left } = countWatchers(face)
    const { conversations } = face.store
    const { runStart } = conversations
    const gone = Promise.withResolvers<void>()
    vi.spyOn(conversations, "runStart").mockImplementation(async (...asked) => {
      await gone.promise
      return runStart.apply(conversations, asked)
    })
    const { port } = new URL(url)
    const socket = connect(Number(port), "127.0.0.1")
    await once(socket, "connect")
    socket.write(
      `GET /api/conversations/${id}/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`,
    )
    await vi.waitFor(() => expect(conversations.runStart).toHaveBeenCalled())
    socket.resetAndDestroy()
    await once(socket, "close")
    await new Promise((resolve) => setImmediate(resolve))
    gone.resolve()
    await left
  })
})
