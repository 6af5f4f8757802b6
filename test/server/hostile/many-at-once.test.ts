import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newId } from "../../../core/protocol/ids.ts"
import { always, says, scripted } from "../../../core/testing.ts"
import { databases } from "../../support/databases.ts"
import { openServer } from "../../support/server/socket.ts"

/** Milliseconds of processor time for one answer. */
const WORK_MS = 25
const AT_ONCE = 24

const [connectionId, id] = [newId("conn", null), newId("res", null)]
const empty = { sql: "", columns: [], truncated: false, hash: "", createdAt: new Date(0).toISOString() }
const sqlite = databases.find(({ name }) => name === "sqlite")!

let server: Awaited<ReturnType<typeof openServer>>
/** The user of each answer, and the turn of the event loop. */
const answered: { readonly user: string; readonly turn: number }[] = []
/** The turns of the event loop in which unknown tokens were checked. */
const refused: number[] = []
let turn = 0
let counting: NodeJS.Immediate

beforeAll(async () => {
  const work = () => {
    for (const end = performance.now() + WORK_MS; performance.now() < end;);
  }
  const find = async (user: string) => {
    answered.push({ user, turn })
    work()
    return { ...empty, id, connectionId, rows: [] }
  }
  const read = async () => {
    refused.push(turn)
    work()
  }
  server = await openServer({
    database: sqlite,
    model: scripted(always(says("ok"))),
    instead: { results: { find }, jwt: { read } } as never,
  })
  const count = () => {
    turn++
    counting = setImmediate(count)
  }
  count()
})
afterAll(async () => {
  clearImmediate(counting)
  await server[Symbol.asyncDispose]()
})

/**
 * Opens a connection that has served one request: data that is sent over several of them at once arrives in one turn.
 */
async function line(): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {})
  socket.write("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
  await once(socket, "data")
  return socket.resume()
}

test("hundreds of requests at once leave turns to others, and one user's do not go before another's", async () => {
  const [ada, bob] = [await server.tokenFor("ada"), await server.tokenFor("bob")]
  const path = `/api/connections/${connectionId}/results/${id}`
  const request = (token: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`
  const lines = await Promise.all(Array.from({ length: AT_ONCE + 1 }, line))
  for (const socket of lines.slice(0, AT_ONCE)) socket.write(request(ada))
  lines.at(-1)?.write(request(bob))
  await expect.poll(() => answered).toHaveLength(AT_ONCE + 1)
  for (const socket of lines) socket.destroy()
  expect(new Set(answered.map((each) => each.turn)).size).toBe(AT_ONCE + 1)
  const [first] = answered
  expect(answered.findIndex(({ user }) => user !== first?.user)).toBeLessThan(AT_ONCE / 2)
})

test("many strangers at once leave turns to other users, and a health check waits for none of them", async () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer of.no.one\r\n\r\n`
  const lines = await Promise.all(Array.from({ length: AT_ONCE + 1 }, line))
  for (const socket of lines.slice(0, AT_ONCE)) socket.write(request("/api/conversations"))
  const [alive] = lines.slice(-1)
  alive!.write(request("/healthz"))
  await once(alive!, "data")
  const before = refused.length
  await expect.poll(() => refused).toHaveLength(AT_ONCE)
  for (const socket of lines) socket.destroy()
  expect(new Set(refused).size).toBe(AT_ONCE)
  expect(before).toBeLessThan(AT_ONCE / 2)
})
