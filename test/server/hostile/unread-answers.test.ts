import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { newId } from "../../../core/protocol/ids.ts"
import { UnreadResponses } from "../../../core/server/auth/rate-limits.ts"
import { listen } from "../../../core/server/listen.ts"
import { always, says, scripted } from "../../../core/testing.ts"
import { anyDatabase } from "../../support/databases.ts"
import type { Visitor } from "../../support/server/face.ts"
import { openServer } from "../../support/server/socket.ts"

/** More than the socket buffers of both ends hold. */
const LARGE = "x".repeat(12_000_000)
const MOST = 3_000_000
/** The maximal length of a message. */
const WORDS = "y".repeat(900_000)

/** Sends a request and reads nothing of the answer until it is resumed. */
async function ask(url: string, path: string, token = ""): Promise<Socket> {
  const { port } = new URL(url)
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {})
  await once(socket, "connect")
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

async function readAll(socket: Socket): Promise<string> {
  let read = ""
  socket.setEncoding("latin1").on("data", (text: string) => (read += text))
  socket.resume()
  await once(socket, "close")
  return read
}

test("an answer whose client reads nothing is cut off; one that takes long to produce is not", async () => {
  const [cut, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answer = async ({ url, signal }: Request) => {
    const isLater = url.endsWith("/later")
    if (isLater) await made.promise
    else signal.addEventListener("abort", () => cut.resolve())
    // Short, so that it does not depend on how soon this process, which is both ends, reads it.
    return new Response(isLater ? "made" : LARGE, { headers: { connection: "close" } })
  }
  const patience = { headers: 10_000, request: 10_000, look: 1000, unread: 200 }
  const server = await listen(answer, { host: "127.0.0.1", port: 0, patience })
  const waiting = await ask(server.url, "/later")
  const unread = await ask(server.url, "/unread")
  await cut.promise
  expect((await readAll(unread)).length).toBeLessThan(LARGE.length)
  made.resolve()
  expect(await readAll(waiting)).toContain("made")
  await server.close(0)
})

describe.each(anyDatabase)("a client that reads nothing, on $name", (database) => {
  let server: Awaited<ReturnType<typeof openServer>>
  let ada: Visitor
  let token: string
  let conversation: string
  const [connectionId, id] = [newId("conn", null), newId("res", null)]
  const result = `/api/connections/${connectionId}/results/${id}`
  const empty = { sql: "", columns: [], truncated: false, hash: "", createdAt: new Date(0).toISOString() }
  const unread = new UnreadResponses(MOST)
  const streams = () => Number(/^pawl_open_streams (\d+)$/m.exec(server.face.server.metrics.all.text())?.[1])

  beforeAll(async () => {
    const find = async () => ({ ...empty, id, connectionId, rows: [[LARGE]] })
    const instead = { unread, results: { find } } as never
    server = await openServer({ database, model: scripted(always(says("ok"))), instead })
    token = await server.tokenFor("ada")
    ada = await server.visitor("ada")
    conversation = await ada.begin()
    for (let said = 0; said < 8; said++) expect((await ada.say(conversation, WORDS)).status).toBe(200)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test("is answered until too much is unread, then refused, and answered again once it is read; other users are not affected", async () => {
    const headers = { authorization: `Bearer ${token}` }
    const get = async (path: string, who = headers) => {
      const response = await fetch(server.url + path, { headers: who })
      return [response.status, response.headers.get("retry-after"), await response.text()] as const
    }
    // All at once: each was accepted when nothing was unread yet.
    const asked = await Promise.all(Array.from({ length: 6 }, () => ask(server.url, result, token)))
    await expect.poll(async () => (await get("/api/auth/me"))[0]).toBe(429)
    const [, after, text] = await get("/api/auth/me")
    expect([after, JSON.parse(text).code]).toEqual(["5", "too_much_unread"])
    const bob = { authorization: `Bearer ${await server.tokenFor("bob")}` }
    expect((await get("/api/auth/me", bob))[0]).toBe(200)
    for (const socket of asked) socket.end()
    const answers = await Promise.all(asked.map(readAll))
    const whole = answers.filter(({ length }) => length > LARGE.length)
    expect(whole).toHaveLength(1)
    expect(answers.filter((answer) => answer.startsWith("HTTP/1.1 429"))).toHaveLength(5)
    expect((await get("/api/auth/me"))[0]).toBe(200)
  })

  test("and watches is cut off if too much is unread, and may reconnect", async () => {
    const path = `/api/conversations/${conversation}/events`
    const counted = vi.spyOn(server.face.server.metrics.streams, "add")
    const asked = await Promise.all(Array.from({ length: 5 }, () => ask(server.url, path, token)))
    await expect.poll(() => counted.mock.calls.filter(([by]) => by === 1).length).toBeGreaterThan(1) // however soon they were cut
    await expect.poll(streams).toBe(1) // the buffer of a stream counts as two million bytes
    for (const socket of asked) socket.destroy()
    await expect.poll(streams).toBe(0)
    const again = await ask(server.url, path, token)
    again.setEncoding("latin1").resume()
    let read = ""
    for await (const text of again) if ((read += text).includes("id: 33\n")) break
    again.destroy()
    await expect.poll(streams).toBe(0)
  })

  test("and watches is cut off when its token is revoked, and does not get the unread rest", async () => {
    const { id: tokenId, token: taken } = (await ada.post("/api/tokens", { scopes: ["read"] })).body
    const watching = await ask(server.url, `/api/conversations/${conversation}/events`, taken)
    const { user } = (await ada.get("/api/auth/me")).body
    let before = 0
    const isHeld = () => before > 0 && (before = unread.bytesOf(user.id)) > 0
    await expect.poll(() => isHeld() || ((before = unread.bytesOf(user.id)), false)).toBe(true) // more than the socket buffers
    expect((await ada.ask("DELETE", `/api/tokens/${tokenId}`)).status).toBe(204)
    const read = await readAll(watching)
    expect(read).toContain("event: message")
    expect(read.endsWith("0\r\n\r\n")).toBe(false)
  })
})
