import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import type { ModelRequest } from "../../core/engine/model.ts"
import { type ConversationId, newId, slotOf, slotOfSecret, type UserId } from "../../core/protocol/ids.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import type { Operation } from "../../core/store/engine/operations.ts"
import { otherTables } from "../../core/store/personal-tables.ts"
import type { Store } from "../../core/store/store.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase, databases, type TestDatabase } from "../support/databases.ts"
import { PRICE, USAGE } from "../support/loop/priced.ts"
import { Held, read } from "../support/loop/tools.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, Peer } from "../support/server/socket.ts"
import { idsIn, lookAtIds, nothingLooked, ownedKinds, type OwnedRow, rowsOfPeople } from "./stored-ids.ts"

/** Calls the tool that the last message names, and answers after its result. */
function replyTo({ history }: ModelRequest) {
  const last = history.at(-1)
  const words = last?.role === "user" ? last.text : ""
  if (words.includes("milk")) return calls("create_task", { title: "Buy milk" })
  return words.includes("look") ? calls("look") : says("Done.")
}

async function open(database: TestDatabase) {
  const looked = nothingLooked()
  const held = new Map<string, Held>()
  const inner = scripted(always(replyTo))
  const model = {
    ...{ name: "priced", provider: "test", contextTokens: 200_000, price: PRICE, paidBy: "shared" as const },
    async *stream(request: ModelRequest, signal: AbortSignal) {
      // Now, because the reservation of a call is deleted when the call is over.
      if (!looked.kinds.has("hold")) await lookAtIds(server.face.store, looked)
      for await (const part of inner.stream(request, signal))
        yield part.type === "finish" ? { ...part, usage: USAGE } : part
    },
  }
  const look = read("look", (input, context) => {
    // A question without an answer: it is deleted with its call.
    void context.lasting?.ask?.({ server: "s", tool: "look", message: "Where?", fields: [] }).catch(() => {})
    return held.get(context.user)!.run(input, context)
  })
  const server = await openServer({ database, model, tools: [look], ceilings: { dailyUsd: 1000 } })
  return { server, looked, held }
}

type World = Awaited<ReturnType<typeof open>>

/** Creates every kind of data that a user can have, through the API. Ends while a tool call is running. */
async function liveFully({ server, held }: World, name: string) {
  const { face, url } = server
  const token = await server.tokenFor(name)
  const who = await server.visitor(name)
  const { id: user } = (await who.get("/api/auth/me")).body.user as { id: UserId }
  held.set(user, new Held())

  const chat = await who.begin({ title: "milk" })
  const { proposals } = (await who.say(chat, "milk")).body
  await who.post(`/api/agent/proposals/${proposals[0].id}/commit`)
  await face.pawl.runtime.rest(chat as ConversationId)
  const [audit] = (await who.get("/api/agent/audit")).body.items
  await who.post(`/api/agent/audit/${audit.id}/undo`)
  await face.pawl.runtime.rest(chat as ConversationId)
  const [shared] = (await who.get(`/api/conversations/${chat}/runs`)).body.items
  expect((await who.post(`/api/runs/${shared.id}/shares`, {})).status).toBe(201)
  const forked = await who.post(`/api/conversations/${chat}/fork`, { position: 6 })
  expect(forked.status).toBe(201)

  expect((await who.post("/api/workspace/sample")).status).toBe(201)
  const headers = { "content-type": "text/csv", "x-file-name": "a.csv" }
  const { id: connection } = (await who.ask("POST", "/api/connections/csv?name=a", { body: "a,b\n1,2\n", headers }))
    .body
  const found = await who.post(`/api/connections/${connection}/query`, { sql: "SELECT * FROM a" })
  expect(found.status).toBe(200)
  const { id: collection } = (await who.post("/api/collections", { name: "Papers" })).body
  await who.post(`/api/collections/${collection}/documents`, { name: "a.txt", content: "On the sorting of pigeons." })
  const passages = await who.post("/api/collections/search", { query: "pigeons" })

  const link = await face.store.sessions.createLink({ id: user }, ["read", "chat"], Date.now())
  const signedIn = await who.send("POST", "/api/auth/sign-in", { body: { secret: link } })
  const cookie = /=([^;]+)/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? ""
  expect((await who.post("/api/files", "On the sorting of pigeons.", { "content-type": "text/plain" })).status).toBe(
    201,
  )
  // Not through the API, which would ask the server.
  const target = { url: "https://mcp.example/notes", headers: {}, isPublic: false }
  await face.store.ownMcpServers.create(user, { id: newId("mcp", user), name: "notes", agents: ["workspace"], target })
  const { ticket } = (await who.post("/api/auth/ticket")).body as { ticket: string }
  const laptop = await connect(new Machine(), { url, token, deviceId: "laptop" })
  const asker = await Peer.open(url, { authorization: `Bearer ${await server.tokenFor(name, "read", "chat")}` })
  asker.send({ type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] })
  await asker.next("error")
  laptop.send({ type: "chat_request", message: "hello" })
  await laptop.next("final")

  const busy = await who.begin({ agent: "test" })
  const answered = who.say(busy, "look", { attended: true })
  await held.get(user)!.begun
  expect((await who.say(busy, "and then", { when: "queue" })).status).toBe(202)
  const over = async () => {
    held.get(user)!.end("seen")
    await answered
    await face.pawl.runtime.rest(busy as ConversationId)
    for (const peer of [laptop, asker]) peer[Symbol.dispose]()
  }
  return { user, secrets: { token, link, cookie, ticket }, passages: passages.text, over }
}

describe.each(anyDatabase)("on $name", (database) => {
  test("every id in every column of a user's rows contains their slot", async () => {
    const world = await open(database)
    await using server = world.server
    const { store } = server.face
    // A user from before there were slots.
    const old = `user_${newId("node").slice("node_".length)}` as UserId
    const bob = await store.people.ensure("bob", Date.now())
    const rename = { sql: "UPDATE person SET id = ? WHERE id = ?", values: [old, bob.id] }
    await store.engine.change({ type: "statements", statements: [rename] })
    const lives = [await liveFully(world, "ada"), await liveFully(world, "bob")]
    expect(lives.map(({ user }) => user)[1]).toBe(old)
    await lookAtIds(store, world.looked)
    for (const { user, secrets, passages, over } of lives) {
      expect(Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, slotOfSecret(secret)]))).toEqual(
        {
          ...{ token: slotOf(user), link: slotOf(user), cookie: slotOf(user), ticket: slotOf(user) },
        },
      )
      const shown = idsIn(passages)
      expect(shown.filter((id) => slotOf(id) !== slotOf(user))).toEqual([])
      for (const id of shown) world.looked.kinds.add(id.slice(0, id.indexOf("_")))
      await over()
    }
    await lookAtIds(store, world.looked)
    expect([...world.looked.wrong]).toEqual([])
    expect(Object.keys(ownedKinds).filter((kind) => !world.looked.kinds.has(kind))).toEqual([])
  })
})

describe.each(databases)("on $name", (database) => {
  test("a commit of a conversation changes only rows of its user, in eight tables", async () => {
    const world = await open(database)
    await using server = world.server
    const { store } = server.face
    await workALittle(world, "bob")
    const looking = watchCommits(store)
    const user = await workALittle(world, "ada")
    const tables = ["audit_entry", "conversation", "event", "inbox", "proposal", "run", "storage_use", "usage"]
    expect(Object.fromEntries(looking)).toEqual(Object.fromEntries(tables.map((table) => [table, new Set([user])])))
  })
})

test("every table that is not by user is listed in docs/reference/scaling.md", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/reference/scaling.md"), "utf8")
  expect(Object.keys(otherTables).filter((table) => !page.includes(`\`${table}\``))).toEqual([])
})

/** An approved write, and messages that wait behind others: all that a commit can contain. */
async function workALittle({ server, held }: World, name: string): Promise<UserId> {
  const who = await server.visitor(name)
  const { id: user } = (await who.get("/api/auth/me")).body.user as { id: UserId }
  held.set(user, new Held())
  const { runtime } = server.face.pawl
  const chat = await who.begin({ title: "milk" })
  const { proposals } = (await who.say(chat, "milk")).body
  await who.post(`/api/agent/proposals/${proposals[0].id}/commit`)
  await runtime.rest(chat as ConversationId)
  const busy = await who.begin({ agent: "test" })
  const answered = who.say(busy, "look", { attended: true })
  await held.get(user)!.begun
  await who.say(busy, "and then", { when: "queue" })
  held.get(user)!.end("seen")
  await answered
  await runtime.rest(busy as ConversationId)
  return user
}

/** The tables in which commits change rows, and the users of these rows. */
function watchCommits({ engine }: Store): ReadonlyMap<string, ReadonlySet<string>> {
  const changed = new Map<string, Set<string>>()
  const change = engine.change.bind(engine) as (operation: Operation) => Promise<never>
  let last: Promise<unknown> = Promise.resolve()
  const watched = async (operation: Operation) => {
    if (operation.type !== "commit") return change(operation)
    const was = await toTexts(engine)
    const outcome = await change(operation)
    const is = await toTexts(engine)
    for (const [text, { table, whose }] of [...was, ...is])
      if (!was.has(text) || !is.has(text)) changed.set(table, (changed.get(table) ?? new Set()).add(whose))
    return outcome
  }
  // In sequence, so that this commit changed every row that differs afterwards.
  vi.spyOn(engine, "change").mockImplementation((operation: Operation) => {
    const turn = last.then(() => watched(operation))
    last = turn.catch(() => {})
    return turn
  })
  return changed
}

async function toTexts(engine: Engine): Promise<Map<string, OwnedRow>> {
  return new Map((await rowsOfPeople({ engine })).map((row) => [JSON.stringify(row), row]))
}
