import type { IncomingMessage } from "node:http"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { createClient, createSocketClient, type UnknownFrame } from "../../client/index.ts"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { type Away, AwayPostgres } from "../support/away-postgres.ts"
import { Browser, codeOf, linkFor } from "../support/server/browser.ts"
import { databases } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"

const postgres = databases.find(({ name }) => name === "postgres") as (typeof databases)[number]
const ways: Away[] = ["refusing", "57P03"]

/** The answer to a WebSocket upgrade that is refused. */
async function refusedUpgrade(url: string, headers: Record<string, string>) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/ws`, { headers })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.on("unexpected-response", (_request, answer) => resolve(answer))
    socket.on("open", () => reject(new Error("the socket was opened")))
    socket.on("error", () => {})
  })
  const told = JSON.parse((await response.toArray()).join("")) as { code: string }
  socket.terminate()
  return { status: response.statusCode, code: told.code, retryAfter: response.headers["retry-after"] }
}

/** Frames of a stream up to the end of the run that contains this text. */
async function heard(stream: AsyncIterable<UnknownFrame>, words: string): Promise<string[]> {
  const ids: string[] = []
  let spoken = false
  for await (const { id, type, data } of stream) {
    if (type === "message") ids.push(id)
    spoken ||= JSON.stringify(data).includes(words)
    if (spoken && type === "done") break
  }
  return ids
}

describe.runIf(postgres)("while PostgreSQL is away", { timeout: 120_000 }, () => {
  async function open() {
    const database = await postgres.create()
    const wire = new AwayPostgres(database.url)
    const server = await openServer({
      database: postgres,
      url: await wire.open(),
      model: scripted(
        always(({ history }) => says(`You said ${history.filter(({ role }) => role === "user").length}.`)),
      ),
      watching: true,
    })
    const token = await server.tokenFor("ada")
    const ada = await server.visitor("ada")
    return {
      ...server,
      wire,
      token,
      ada,
      back: async () => {
        await wire.comeBack()
        await expect.poll(async () => (await ada.get("/readyz")).status, { timeout: 60_000 }).toBe(200)
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await wire[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test.each(ways)(
    "(%s) a WebSocket upgrade is refused with 503 and Retry-After, and succeeds when it is back",
    async (away) => {
      await using server = await open()
      const authorization = { authorization: `Bearer ${server.token}` }
      await server.wire.leave(away)
      const { status, code, retryAfter } = await refusedUpgrade(server.url, authorization)
      expect([status, code]).toEqual([503, "store_unavailable"])
      expect(Number(retryAfter)).toBeGreaterThan(0)
      await server.back()
      using peer = await server.socket("ada")
      peer.send({ type: "ping" })
      await peer.next("pong")
    },
  )

  test.each(ways)(
    "(%s) an open WebSocket gets store_unavailable for its requests, stays open, and is served afterwards",
    async (away) => {
      await using server = await open()
      const id = await server.ada.begin()
      using peer = await server.socket("ada")
      await server.ada.say(id, "one")
      const told = (words: string) => peer.until(() => JSON.stringify(peer.events(id)).includes(words))
      peer.send({ type: "attach", conversationId: id, after: "0" })
      // Waits for the end: an attachment that is still being read when the store fails would end with it.
      await told("You said 1.")
      await told('"type":"done"')
      await server.wire.leave(away)
      peer.send({ type: "cancel", conversationId: id })
      expect(await peer.next("error")).toMatchObject({ code: "store_unavailable" })
      expect(peer.closed).toBe(undefined)
      await server.back()
      await server.ada.say(id, "two")
      await told("You said 2.")
    },
  )

  test.each(["sse", "socket"] as const)(
    "an open client stream over %s resumes by itself, without a missing or repeated event",
    async (kind) => {
      await using server = await open()
      const { token, url: baseUrl } = server
      const client =
        kind === "sse"
          ? createClient({ baseUrl, token })
          : createSocketClient({ baseUrl, token, WebSocket: globalThis.WebSocket })
      const id = await server.ada.begin()
      await server.ada.say(id, "one")
      const watching = heard(client.events(id, { after: "0" }), "You said 2.")
      await server.wire.leave("refusing")
      await expect.poll(async () => (await server.ada.get("/readyz")).status).toBe(503)
      await server.back()
      await server.ada.say(id, "two")
      const ids = await watching
      expect(ids).toHaveLength(4)
      expect(new Set(ids).size).toBe(4)
    },
  )

  test.each(["sse", "socket"] as const)(
    "a client that subscribes over %s while it is away gets every event when it is back",
    async (kind) => {
      await using server = await open()
      const { token, url: baseUrl } = server
      const client =
        kind === "sse"
          ? createClient({ baseUrl, token })
          : createSocketClient({ baseUrl, token, WebSocket: globalThis.WebSocket })
      const id = await server.ada.begin()
      await server.ada.say(id, "one")
      await server.wire.leave("refusing")
      const watching = heard(client.events(id, { after: "0" }), "You said 1.")
      await expect.poll(async () => (await server.ada.get("/readyz")).status).toBe(503)
      await server.back()
      expect(await watching).toHaveLength(2)
    },
  )

  test.each(ways)(
    "(%s) a sign-in link is refused with 503 without being used up, and a signed-in browser stays signed in",
    async (away) => {
      await using server = await open()
      const link = await linkFor(server.face, "ada")
      const known = await Browser.of(server.face, "ada")
      const fresh = new Browser(server.face)
      await server.wire.leave(away)
      const refused = await fresh.signIn(link)
      expect(codeOf(refused)).toEqual([503, "store_unavailable"])
      expect(refused.headers.has("retry-after")).toBe(true)
      expect(codeOf(await known.get("/api/auth/me"))).toEqual([503, "store_unavailable"])
      expect(known.cookie).not.toBe(undefined)
      await server.back()
      expect((await fresh.signIn(link)).status).toBe(200)
      expect((await known.get("/api/auth/me")).status).toBe(200)
    },
  )
})
