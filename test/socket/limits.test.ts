import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { CLOSE } from "../../core/protocol/socket.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { openServer, Peer, refusedWith, type ServerOptions } from "../support/server/socket.ts"

const [sqlite] = databases as readonly [TestDatabase]
const open = (options: Partial<ServerOptions> = {}) =>
  openServer({ database: sqlite, model: scripted(always(says("Hello."))), ...options })
type Server = Awaited<ReturnType<typeof open>>

/** Requests an upgrade with raw bytes. */
async function ask(server: Server, token: string, ...more: string[]): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {})
  const lines = ["GET /api/ws HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket", ...more]
  socket.write(`${[...lines, `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`)
  return socket
}
const HANDSHAKE = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]

describe("the number of open sockets and streams is limited", () => {
  test("for one person; one more is a 429 that says so, others can connect, and a closed one frees its slot", async () => {
    await using server = await open({ mostStreams: { ofOne: 3, ofAll: 100 } })
    const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    // Concurrent: of simultaneous requests only as many are accepted as the limit allows.
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => Peer.open(server.url, headers)))
    const peers = tries.flatMap((tried) => (tried.status === "fulfilled" ? [tried.value] : []))
    expect(peers).toHaveLength(3)
    expect(await refusedWith(server.url, headers)).toEqual({ status: 429, code: "too_many_streams" })
    using _bob = await server.socket("bob")
    peers[0]?.socket.close()
    await peers[0]?.close()
    using again = await Peer.open(server.url, headers)
    again.send({ type: "ping" })
    await again.next("pong")
    for (const peer of peers) peer.socket.terminate()
  })

  test("of all together; one more is a 503, and the server continues to serve", async () => {
    await using server = await open({ mostStreams: { ofOne: 10, ofAll: 2 } })
    const headers = async (name: string) => ({ authorization: `Bearer ${await server.tokenFor(name)}` })
    using _ada = await server.socket("ada")
    using bob = await server.socket("bob")
    expect(await refusedWith(server.url, await headers("eve"))).toEqual({ status: 503, code: "server_full" })
    const watched = await fetch(`${server.url}/api/feed`, { headers: await headers("eve") })
    expect([watched.status, ((await watched.json()) as { code: string }).code]).toEqual([503, "server_full"])
    bob.socket.terminate()
    await expect
      .poll(async () => Peer.open(server.url, await headers("eve")).then((peer) => peer.socket.terminate() ?? true))
      .toBe(true)
  })

  test("and each conversation watched over a socket after its first counts as a stream: one more is refused, and a closed one is free again", async () => {
    await using server = await open({ mostStreams: { ofOne: 3, ofAll: 100 } })
    const ada = await server.visitor("ada")
    const [one, two, three] = [await ada.begin(), await ada.begin(), await ada.begin()] as ConversationId[]
    using peer = await server.socket("ada")
    peer.send({ type: "attach" })
    for (const conversationId of [one, two, three]) peer.send({ type: "attach", conversationId })
    expect(await peer.next("error")).toMatchObject({ code: "too_many_streams", id: three })
    // Whichever is closed, also the first.
    peer.send({ type: "detach" })
    peer.send({ type: "attach", conversationId: three })
    await peer.until((seen) => seen.some((frame) => frame.type === "event" && frame.conversationId === three))
    peer.socket.terminate()
    // Closing the socket has ended all that was watched over it.
    await expect
      .poll(async () => {
        const tries = await Promise.allSettled([1, 2, 3].map(() => server.socket("ada")))
        for (const tried of tries) if (tried.status === "fulfilled") tried.value.socket.terminate()
        return tries.filter(({ status }) => status === "fulfilled").length
      })
      .toBe(3)
  })

  test("and a socket that watches one conversation takes one slot, as a stream does", async () => {
    await using server = await open({ mostStreams: { ofOne: 3, ofAll: 100 } })
    const ada = await server.visitor("ada")
    for (let i = 0; i < 3; i++) {
      const peer = await server.socket("ada")
      peer.send({ type: "attach", conversationId: await ada.begin() })
      await peer.until((seen) => seen.some((frame) => frame.type === "event"))
    }
  })

  test("and a failed handshake takes no slot", async () => {
    await using server = await open({ mostStreams: { ofOne: 1, ofAll: 1 } })
    const token = await server.tokenFor("ada")
    for (const more of [[], ["Sec-WebSocket-Version: 13"], ["Sec-WebSocket-Version: 99", HANDSHAKE[1] as string]]) {
      const socket = await ask(server, token, ...more)
      const [answer] = (await once(socket, "data")) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 4/)
      socket.destroy()
    }
    for (let i = 0; i < 20; i++) (await ask(server, token, ...HANDSHAKE)).destroy() // gone before it is answered
    await expect
      .poll(() =>
        Peer.open(server.url, { authorization: `Bearer ${token}` }).then((peer) => peer.socket.terminate() ?? 1),
      )
      .toBe(1)
  })
})

test("requests over a socket count like requests over HTTP, and are refused with an error and a final", async () => {
  await using server = await open({ instead: { requestsPerMinute: 5 } })
  using peer = await server.socket("ada") // the first of five
  for (let i = 0; i < 4; i++) peer.send({ type: "cancel", conversationId: "conv_missing" })
  peer.send({ type: "attach" })
  peer.send({ type: "chat_request", message: "go", context: {} })
  for (let i = 0; i < 10; i++) peer.send({ type: "ping" }) // free
  await peer.next("final")
  await peer.until((seen) => seen.filter(({ type }) => type === "pong").length === 10)
  const codes = peer.seen.flatMap((frame) => (frame.type === "error" ? [frame.code] : []))
  expect(codes).toEqual([...Array(4).fill("not_found"), "too_many_requests", "too_many_requests"])
  const ada = await server.visitor("ada")
  expect((await ada.get("/api/conversations")).status).toBe(429)
})

test("a frame in very many pieces costs its sender the connection, not us our memory", async () => {
  await using server = await open()
  using peer = await server.socket("ada")
  peer.socket.send("{", { fin: false })
  for (let i = 0; i < 2000; i++) peer.socket.send(" ", { fin: false })
  expect(await peer.close()).toMatchObject({ code: CLOSE.badFrame })
  // A thousand is more than any client needs, and is read.
  using patient = await server.socket("ada")
  const pieces = [...`{"type":"ping"${" ".repeat(900)}}`]
  pieces.forEach((piece, index) => patient.socket.send(piece, { fin: index === pieces.length - 1 }))
  await patient.next("pong")
})

test("a token that is revoked while its socket is being opened leaves no socket open", async () => {
  await using server = await open()
  const { revocation } = server.face
  const register = revocation.register.bind(revocation)
  revocation.register = (caller, close) => {
    const leave = register(caller, close)
    void revocation.revoked(caller.credential.id) // between the answer and the socket
    return leave
  }
  const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
  const peer = new Peer(new WebSocket(`${server.url.replace("http", "ws")}/api/ws`, { headers }))
  expect(await peer.close()).toMatchObject({ code: CLOSE.revoked })
})

test("a refused client that does not close its end is cut off", async () => {
  await using server = await open()
  const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true })
  socket.on("error", () => {})
  const head = ["GET /api/ws HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket", ...HANDSHAKE]
  socket.write(`${head.join("\r\n")}\r\n\r\n`)
  const [answer] = (await once(socket, "data")) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /)
  socket.resume()
  await once(socket, "end")
  // Only a write reveals that the server has closed the connection for good.
  await expect
    .poll(() => {
      socket.write("more")
      return socket.destroyed
    })
    .toBe(true)
})
