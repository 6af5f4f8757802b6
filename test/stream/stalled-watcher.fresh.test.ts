import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { listen } from "../../core/server/listen.ts"
import { databases } from "../support/databases.ts"
import { sizes } from "../support/sizes.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { usedMemory } from "../support/worked.ts"

const MB = 1024 * 1024
const [READERS, STALLED, TURNS] = [10, 10, sizes.stalledTurns]
const CHUNK = "x".repeat(512)
/** Nearly a megabyte: the largest size of a reply. */
const REPLY = 1900 * CHUNK.length
/** The conversation itself holds its replies in memory. The unread data would be ten times as much, and twice that. */
const BOUND = 4 * TURNS * MB

/** A reply of the largest size, in pieces that come one by one. */
const talkative: Model = {
  name: "talkative",
  provider: "test",
  contextTokens: Number.MAX_SAFE_INTEGER,
  async *stream() {
    for (let sent = 0; sent < REPLY; sent += CHUNK.length) {
      yield { type: "text", text: CHUNK }
      await new Promise((resolve) => setImmediate(resolve))
    }
    yield { type: "finish", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
  },
}

/** A client that counts units of text in deltas, and runs whose end it received. */
class Watcher {
  readonly socket: Socket
  text = 0
  ended = 0
  #line = ""
  #told = Promise.withResolvers<void>()

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding("latin1")
    socket.on("data", (bytes: string) => this.#read(bytes))
  }

  async sees(runs: number): Promise<void> {
    while (this.ended < runs) {
      this.#told = Promise.withResolvers()
      await this.#told.promise
    }
  }

  /** A chunk of HTTP ends where a frame does, so its head only ever precedes one. */
  #read(bytes: string): void {
    const parts = (this.#line + bytes).split("\n\n")
    this.#line = parts.pop() ?? ""
    for (const part of parts) {
      const [, text = ""] = /event: text_delta\ndata: \{"text":"(x*)"\}/.exec(part) ?? []
      this.text += text.length
      if (part.includes("event: done")) this.ended++
    }
    this.#told.resolve()
  }
}

test("watchers that never read delay no other client, and cost the server a bounded buffer each", async () => {
  const { url: database } = await (databases[0] as (typeof databases)[number]).create()
  await using face = await Face.open({ url: database, model: talkative })
  const { url, close } = await listen((sent, env) => face.fetch(sent, env), { host: "127.0.0.1", port: 0 })
  const { people } = face.store
  const { token } = await people.createToken(await people.ensure("ada", 0), ["read", "chat"], 0)
  const ada = new Visitor((sent) => face.fetch(sent), token)
  const id = await ada.begin()
  const { port } = new URL(url)
  const watch = async () => {
    const socket = connect(Number(port), "127.0.0.1")
    await once(socket, "connect")
    const path = `/api/conversations/${id}/events?after=1`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`)
    return socket
  }
  const readers = await Promise.all(Array.from({ length: READERS }, async () => new Watcher(await watch())))
  const stalled = await Promise.all(Array.from({ length: STALLED }, watch))
  for (const socket of stalled) socket.pause()

  await ada.say(id, "go")
  const before = usedMemory()
  for (let turn = 2; turn <= TURNS; turn++) {
    expect((await ada.say(id, "go")).status).toBe(200)
    // All active readers have seen everything, while others have read nothing at all.
    await Promise.all(readers.map((reader) => reader.sees(turn)))
    expect(usedMemory() - before, `after ${turn} MB for each of ${READERS}`).toBeLessThan(BOUND)
  }
  for (const socket of stalled) expect(socket.bytesRead).toBeLessThan(MB / 4) // what a socket takes in by itself
  for (const reader of readers) expect(reader.text).toBe(TURNS * REPLY)

  // A client that reads again has missed nothing.
  const late = new Watcher(stalled[0] as Socket)
  late.socket.resume()
  await late.sees(TURNS)
  expect(late.text).toBe(TURNS * REPLY)
  for (const socket of [...stalled, ...readers.map((reader) => reader.socket)]) socket.destroy()
  await close(0)
}, 180_000)
