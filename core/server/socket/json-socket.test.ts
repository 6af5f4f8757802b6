import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { systemClock } from "../../shared/time/clock.ts"
import { CLOSE } from "../../protocol/socket.ts"
import { JsonSocket } from "./json-socket.ts"

const server = createServer().listen(0, "127.0.0.1")
const sockets = new WebSocketServer({ server, autoPong: false })
const peers: WebSocket[] = []
afterEach(() => void peers.splice(0).forEach((peer) => peer.terminate()))

/** A JSON socket over a real socket, to a peer that reads nothing. */
async function open() {
  const peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  peers.push(peer)
  const [[socket]] = (await Promise.all([once(sockets, "connection"), once(peer, "open")])) as [[WebSocket], unknown]
  peer.pause()
  let closed = 0
  const sender = new JsonSocket({ socket }, systemClock, {
    onFrame: () => false,
    onRefused: () => {},
    onUnreadable: () => false,
    expectsAnswer: () => false,
    onClose: () => void closed++,
  })
  return { sender, socket, peer, closedCount: () => closed }
}

const KILOBYTE = 1024
const MEGABYTE = 1024 * KILOBYTE
const frameOf = (bytes: number) => ({ type: "text_chunk", text: "x".repeat(bytes) }) as const

describe("to a peer that does not read", () => {
  test("pushed frames are buffered up to four megabytes, then the connection is closed with a reason", async () => {
    const { sender, socket, peer, closedCount } = await open()
    let most = 0
    for (let sent = 0; sent < 256 && sender.open; sent++) {
      // A turn of the event loop, in which the system accepts what it has room for.
      await new Promise((resolve) => setImmediate(resolve))
      sender.send(frameOf(MEGABYTE / 4))
      most = Math.max(most, socket.bufferedAmount)
    }
    expect([sender.open, closedCount()]).toEqual([false, 1])
    expect(most).toBeGreaterThan(3 * MEGABYTE)
    expect(most).toBeLessThan(5 * MEGABYTE)
    // A closed peer gets no more frames.
    const before = socket.bufferedAmount
    sender.send(frameOf(MEGABYTE))
    expect(socket.bufferedAmount).toBe(before)
    const closed = once(peer, "close")
    peer.resume()
    expect(await closed).toMatchObject([CLOSE.silent, Buffer.from("you do not read what you are sent")])
  })

  test("pulled frames are serialized only while there is room, and all of them arrive", async () => {
    const { sender, socket, peer } = await open()
    const frames = Array.from({ length: 2000 }, () => frameOf(16 * KILOBYTE))
    let most = 0
    let sends = 0
    const send = socket.send.bind(socket)
    socket.send = ((data: string, done: () => void) => {
      send(data, done)
      sends++
      most = Math.max(most, socket.bufferedAmount)
    }) as typeof socket.send
    const sent = sender.sendAll(frames)
    // It is blocked when nothing was sent for many turns.
    for (let last = -1; last !== sends;) {
      last = sends
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sends).toBeLessThan(frames.length)
    expect(most).toBeLessThan(128 * KILOBYTE)
    expect(sender.open).toBe(true)
    let heard = 0
    peer.on("message", () => heard++)
    peer.resume()
    expect(await sent).toBe(true)
    await expect.poll(() => heard).toBe(frames.length)
  })

  test.each([
    ["pings of the socket", (peer: WebSocket) => peer.ping()],
    ["pings in JSON", (peer: WebSocket) => peer.send('{"type":"ping"}')],
  ])("answers to its %s do not pile up", async (_what, ping) => {
    const { sender, socket, peer } = await open()
    while (socket.bufferedAmount < MEGABYTE) {
      sender.send(frameOf(MEGABYTE / 4))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const heard = new Promise<void>((resolve) => {
      let left = 50
      for (const event of ["ping", "message"]) socket.on(event, () => --left === 0 && resolve())
    })
    const before = socket.bufferedAmount
    for (let i = 0; i < 50; i++) ping(peer)
    await heard
    expect(socket.bufferedAmount).toBeLessThanOrEqual(before)
    expect(sender.open).toBe(true)
  })
})
