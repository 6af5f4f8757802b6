import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { describe, expect, test } from "vitest"
import { CLOSE } from "../../core/protocol/socket.ts"
import { says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { openServer, Peer, refusedWith } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const [sqlite] = databases as readonly [TestDatabase]
const open = (clock?: TurnedClock) =>
  openServer({ database: sqlite, model: scripted(says("Hello.")), ...(clock ? { clock } : {}) })

describe("a socket is opened", () => {
  test("with a token, and each request without one is refused before the upgrade", async () => {
    await using server = await open()
    using peer = await server.socket("ada")
    peer.send({ type: "ping" })
    expect(await peer.next("pong")).toEqual({ type: "pong" })
    expect(await refusedWith(server.url, {})).toEqual({ status: 401, code: "unauthenticated" })
    expect(await refusedWith(server.url, { authorization: "Bearer pawl_nonsense" })).toEqual({
      status: 401,
      code: "unauthenticated",
    })
    const blind = { authorization: `Bearer ${await server.tokenFor("ada", "chat")}` }
    expect(await refusedWith(server.url, blind)).toEqual({ status: 403, code: "forbidden" })
  })

  test("with a ticket, once", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const { ticket } = (await ada.post("/api/auth/ticket")).body
    const protocols = [`pawl.ticket.${ticket}`]
    using peer = await Peer.open(server.url, {}, protocols)
    expect(peer.socket.protocol).toBe(protocols[0])
    expect(await refusedWith(server.url, {}, protocols)).toEqual({ status: 401, code: "unauthenticated" })
    const second = (await ada.post("/api/auth/ticket")).body.ticket
    using polite = await Peer.open(server.url, {}, ["pawl", `pawl.ticket.${second}`])
    expect(polite.socket.protocol).toBe("pawl")
  })

  test("only under our host name and from our own pages", async () => {
    await using server = await open()
    const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    expect(await refusedWith(server.url, { ...headers, host: "evil.example" })).toEqual({
      status: 421,
      code: "wrong_host",
    })
    expect(await refusedWith(server.url, { ...headers, origin: "https://evil.example" })).toEqual({
      status: 403,
      code: "wrong_origin",
    })
    using own = await Peer.open(server.url, { ...headers, origin: server.url })
    expect(own.closed).toBeUndefined()
  })

  test("only by an upgrade to a WebSocket", async () => {
    await using server = await open()
    const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    const plain = await fetch(`${server.url}/api/ws`, { headers })
    expect([plain.status, ((await plain.json()) as { code: string }).code]).toEqual([426, "upgrade_required"])
    // Java's client offers every server h2c first; the server must ignore that offer.
    const asked = request(`${server.url}/healthz`, { headers: { connection: "upgrade", upgrade: "h2c" } }).end()
    const [answer] = await once(asked, "response")
    expect(answer.statusCode).toBe(200)
    asked.destroy()
  })
})

describe("a socket is closed", () => {
  test("with 4401 as soon as its token is revoked, and receives nothing more", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const { id, token } = (await ada.post("/api/tokens", { name: "laptop" })).body
    using peer = await Peer.open(server.url, { authorization: `Bearer ${token}` })
    expect((await ada.delete(`/api/tokens/${id}`)).status).toBe(204)
    expect(await peer.close()).toMatchObject({ code: CLOSE.revoked })
    expect(await refusedWith(server.url, { authorization: `Bearer ${token}` })).toMatchObject({ status: 401 })
  })

  test.each([
    ["no JSON", "hello"],
    ["no object", "[]"],
    ["null", "null"],
    ["a type that is none", { type: "shout" }],
    ["a field of the wrong kind", { type: "chat_request", message: 5 }],
    ["a field too much in a strict one", { type: "attach", conversationID: "conv_1" }],
    ["an id of another kind", { type: "cancel", conversationId: "prop_1" }],
    ["endless depth", "[".repeat(200_000)],
    ["a depth that can be read", `{"type":"tool_result","id":"x","row":${"[".repeat(5000)}${"]".repeat(5000)}}`],
  ])("with 1008 after an error, for %s", async (_what, frame) => {
    await using server = await open()
    using peer = await server.socket("ada")
    peer.send(frame)
    expect(await peer.close()).toMatchObject({ code: CLOSE.badFrame })
    expect(peer.seen).toEqual([{ type: "error", code: "bad_request", message: expect.any(String) }])
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test("with 1008 for bytes, and with 1009 for more than a mebibyte, also in pieces", async () => {
    await using server = await open()
    using binary = await server.socket("ada")
    binary.socket.send(Buffer.from('{"type":"ping"}'))
    expect(await binary.close()).toMatchObject({ code: CLOSE.badFrame })
    using large = await server.socket("ada")
    large.send({ type: "chat_request", message: "x".repeat(1024 * 1024) })
    expect(await large.close()).toMatchObject({ code: CLOSE.tooLarge })
    using pieces = await server.socket("ada")
    for (let i = 0; i < 5; i++) pieces.socket.send("x".repeat(300_000), { fin: false })
    expect(await pieces.close()).toMatchObject({ code: CLOSE.tooLarge })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test("after malformed WebSocket frames, without an effect on other connections", async () => {
    await using server = await open()
    using peer = await server.socket("ada")
    const { _socket: wire } = peer.socket as unknown as { _socket: NodeJS.WritableStream }
    wire.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x00, 0x13]))
    expect((await peer.close()).code).toBeGreaterThan(1000)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test("not for text that cannot be stored: that is an error, and the next message is answered", async () => {
    await using server = await open()
    using peer = await server.socket("ada")
    peer.send({ type: "chat_request", message: "a\0b" })
    expect(await peer.next("error")).toMatchObject({ code: "unstorable_text" })
    peer.send({ type: "ping" })
    await peer.next("pong")
  })
})

describe("a silent socket", () => {
  test("gets two kinds of ping every 30 s, and is closed within 40 s if it answers neither", async () => {
    const clock = new TurnedClock()
    await using server = await open(clock)
    using alive = await server.socket("ada")
    // It completes the handshake and then sends nothing: a connection whose other end has lost its power.
    const dead = connect(Number(new URL(server.url).port), "127.0.0.1")
    const token = await server.tokenFor("ada")
    dead.write(
      `GET /api/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${token}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    await once(dead, "data")
    let pinged = 0
    alive.socket.on("ping", () => pinged++)
    await clock.turn(30_000)
    await alive.next("ping")
    await expect.poll(() => pinged).toBe(1)
    alive.send({ type: "ping" }) // what comes after its pong has been read after its pong
    await alive.next("pong")
    const ended = once(dead, "close")
    await clock.turn(10_000)
    dead.resume()
    await clock.turn(2000)
    await ended
    expect(alive.closed).toBeUndefined()
    await clock.turn(30_000)
    await alive.until((seen) => seen.filter(({ type }) => type === "ping").length === 2)
  })

  test("is also that of a device that said hello and answers only the WebSocket's own pings", async () => {
    const clock = new TurnedClock()
    await using server = await open(clock)
    using hung = await server.socket("ada")
    using well = await server.socket("ada")
    for (const peer of [hung, well]) {
      peer.send({ type: "hello", deviceId: peer === hung ? "hung" : "well", offers: [] })
      await peer.next("hello")
    }
    for (let round = 0; round < 2; round++) {
      const from = well.seen.length
      await clock.turn(round === 0 ? 30_000 : 20_000)
      await well.next("ping", from)
      well.send({ type: "pong" })
      well.send({ type: "ping" })
      await well.next("pong", from)
      await clock.turn(10_000)
    }
    expect(await hung.close()).toMatchObject({ code: CLOSE.silent })
    expect(well.closed).toBeUndefined()
  })
})
