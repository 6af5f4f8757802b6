import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { describe, expect, test, vi } from "vitest"
import { WebSocket } from "ws"
import { says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"

const [sqlite] = databases as readonly [TestDatabase]
const open = () => openServer({ database: sqlite, model: scripted(says("Hello.")) })

/** A socket whose frames are built in advance, so that a delay is the server's and not the client's. */
async function openRaw(server: Awaited<ReturnType<typeof open>>): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {})
  const headers = ["Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
  const token = `Authorization: Bearer ${await server.tokenFor("ada")}`
  const lines = ["GET /api/ws HTTP/1.1", ...headers, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", token]
  socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  await once(socket, "data")
  return socket
}

const [TEXT, PING] = [0x81, 0x89]

/** A frame as a client sends it, with a mask of zeros. */
function toFrame(opcode: number, text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(body.length < 126 ? 2 : 10)
  head[0] = opcode
  head[1] = 0x80 | (body.length < 126 ? body.length : 127)
  if (body.length >= 126) head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, Buffer.alloc(4), body])
}

/** Sends a frame this often, as fast as it is read; resolves when all have been read, or after a while. */
async function flood(socket: Socket, frame: Buffer, times: number, ms = 1500): Promise<number> {
  let sent = 0
  const batch = Buffer.concat(Array<Buffer>(Math.max(1, Math.floor(65536 / frame.length))).fill(frame))
  const end = performance.now() + ms
  while (sent < times && performance.now() < end) {
    const room = socket.write(batch)
    sent += batch.length / frame.length
    if (!room) await Promise.race([once(socket, "drain"), pause(Math.max(0, end - performance.now()))])
  }
  await pause(Math.max(0, end - performance.now()))
  return sent - socket.writableLength / frame.length
}

/**
 * The most milliseconds that this thread, which runs server and flood, worked before one `/healthz` was answered.
 * On an idle machine that is the time of the answer; on a busy one, waiting for the processor is not counted.
 */
async function slowestHealth(url: string, during: Promise<unknown>): Promise<number> {
  let slowest = 0
  let over = false
  void during.finally(() => (over = true))
  while (!over) {
    const began = process.threadCpuUsage()
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const { user, system } = process.threadCpuUsage(began)
    slowest = Math.max(slowest, (user + system) / 1000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return slowest
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe("the server answers others while one peer floods it with", { timeout: 180_000 }, () => {
  test("frames, which are read no faster than the limit", async () => {
    await using server = await open()
    const peer = await openRaw(server)
    let heard = 0
    peer.on("data", (data: Buffer) => (heard += data.length / '..{"type":"pong"}'.length))
    const startedAt = performance.now()
    const flooding = flood(peer, toFrame(TEXT, '{"type":"ping"}'), 1_000_000)
    expect(await slowestHealth(server.url, flooding)).toBeLessThan(1000)
    // The burst, two seconds of the rate, and one packet beyond them, out of a hundred thousand. More on a busy machine.
    expect(heard).toBeGreaterThan(100)
    expect(heard).toBeLessThan(12_000 * Math.max(1, (performance.now() - startedAt) / 2000))
    expect(peer.destroyed).toBe(false)
    peer.destroy()
  })

  test("WebSocket pings, whose answers it never reads", async () => {
    await using server = await open()
    const peer = await openRaw(server)
    peer.pause()
    // All that waits for it in our memory; the system's buffers take some megabytes before that.
    let [most, answered] = [0, 0]
    const { pong } = WebSocket.prototype
    // Restored even if the test fails, because its retry would spy on the spy.
    using _spy = vi.spyOn(WebSocket.prototype, "pong").mockImplementation(function (
      this: WebSocket,
      ...given: unknown[]
    ) {
      pong.apply(this, given as never)
      most = Math.max(most, this.bufferedAmount)
      answered++
    })
    const flooding = flood(peer, toFrame(PING, "x".repeat(125)), 1_000_000, 5000)
    expect(await slowestHealth(server.url, flooding)).toBeLessThan(1000)
    expect(answered).toBeGreaterThan(100)
    expect(most).toBeLessThan(200_000)
    expect(peer.destroyed).toBe(false)
    peer.destroy()
  })

  test.each([
    ["objects", `{"type":"tool_result","id":"x","rows":[${'{"title":"0123"},'.repeat(49_000)}{}]}`],
    [
      "keys",
      `{"type":"chat_request","message":"x","context":{${Array.from({ length: 49_000 }, (_, i) => `"k${i}":"0123"`).join()}}}`,
    ],
    ["letters to mend", `{"type":"tool_result","id":"x","error":"${"\\u0000".repeat(170_000)}"}`],
  ])("frames of the largest size, of very many %s", async (_what, text) => {
    await using server = await open()
    const peer = await openRaw(server)
    const flooding = flood(peer, toFrame(TEXT, text), 40)
    expect(await slowestHealth(server.url, flooding)).toBeLessThan(1000)
    expect(peer.destroyed).toBe(false)
    peer.destroy()
  })

  test("chat requests, which are answered a few at a time", async () => {
    await using server = await open()
    using peer = await server.socket("ada")
    for (let i = 0; i < 300; i++)
      peer.send({ type: "chat_request", message: "x", context: { conversationId: "conv_none" } })
    const answered = peer.until((seen) => seen.filter(({ type }) => type === "final").length === 300)
    expect(await slowestHealth(server.url, answered)).toBeLessThan(1000)
  })

  test("handshakes that are never finished", async () => {
    await using server = await open()
    const port = Number(new URL(server.url).port)
    const half = "GET /api/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    const sockets: Socket[] = []
    for (let i = 0; i < 500; i++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {})
      socket.write(i % 2 === 0 ? half : `${half}\r\n`)
      if (i % 5 === 0) socket.destroy()
      sockets.push(socket)
    }
    // Requests without a token are refused and closed, whether or not they close their end.
    const refused = sockets.filter((_, index) => index % 2 === 1 && index % 5 !== 0)
    const over = Promise.all(refused.map((socket) => once(socket.resume(), "close")))
    expect(await slowestHealth(server.url, over)).toBeLessThan(1000)
    using peer = await server.socket("ada")
    peer.send({ type: "ping" })
    await peer.next("pong")
    for (const socket of sockets) socket.destroy()
  })
})

test("a socket may watch a limited number of conversations, and gets an error beyond it", async () => {
  await using server = await open()
  const ada = await server.visitor("ada")
  using peer = await server.socket("ada")
  for (let i = 0; i < 65; i++) peer.send({ type: "attach", conversationId: await ada.begin() })
  expect(await peer.next("error")).toMatchObject({ code: "too_many" })
})
