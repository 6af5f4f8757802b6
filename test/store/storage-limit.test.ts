import { describe, expect, test } from "vitest"
import { type ConversationId, type UserId } from "../../core/protocol/ids.ts"
import { countedTables, neverRefused } from "../../core/store/storage/counted-tables.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const MEGABYTE = 1024 * 1024

test("each counted table refuses rows over the storage limit, or states why it never does", () => {
  const refusing = countedTables.filter(({ refuses }) => refuses !== undefined).map(({ table }) => table)
  const others = countedTables.map(({ table }) => table).filter((table) => !refusing.includes(table))
  expect(others.sort()).toEqual(Object.keys(neverRefused).sort())
})

describe.each(databases)("on $name", ({ create }) => {
  const idOf = async (visitor: Visitor) => (await visitor.get("/api/auth/me")).body.user.id as UserId
  const note = (title: string, bytes: number) => ({ title, content: "x".repeat(bytes) })

  test("a note that does not fit is refused with the limit, the largest items and what to do; deleting makes room", async () => {
    await using database = await create()
    const model = scripted(always(says("ok")))
    await using face = await Face.open({ url: database.url, model, personBytes: MEGABYTE })
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const first = await ada.post("/api/workspace/notes", note("First", 700_000))
    expect(first.status).toBe(201)
    const refused = await ada.post("/api/workspace/notes", note("Second", 700_000))
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({
      code: "storage_full",
      detail: expect.stringMatching(
        /^Your storage is full: you use 68\d(\.\d)? kB of 1 MB \(PAWL_PERSON_MEGABYTES\), most of it for tasks and notes \(68\d(\.\d)? kB\)\. Delete tasks, notes or projects that you no longer need\.$/,
      ),
    })
    expect((await ada.get("/api/workspace/notes")).body.items).toHaveLength(1)
    const { body: stored } = await ada.get("/api/storage")
    expect(stored).toMatchObject({ limitBytes: MEGABYTE, kinds: [{ kind: "workspace" }, { kind: "connections" }] })
    expect(stored.bytes).toBe(stored.kinds[0].bytes + stored.kinds[1].bytes)
    expect((await bob.get("/api/storage")).body.bytes).toBeLessThan(1000)
    // A text may become shorter, not longer.
    const path = `/api/workspace/notes/${first.body.id}`
    expect((await ada.ask("PATCH", path, { body: { content: "x".repeat(1_400_000) } })).status).not.toBe(200)
    expect((await bob.post("/api/workspace/notes", note("Bob's", 700_000))).status).toBe(201)

    expect((await ada.delete(path)).status).toBeLessThan(300)
    expect((await ada.post("/api/workspace/notes", note("Second", 700_000))).status).toBe(201)
    expect(face.logged).toEqual([])
  })

  test("with a full storage nothing new starts, and running work ends as usual", async () => {
    await using database = await create()
    const held = new Held()
    const look = read("look", held.run)
    const model = scripted(calls("look"), says("Seen."), calls("create_note", note("Mine", 10)), always(says("Done.")))
    await using face = await Face.open({ url: database.url, model, tools: [look] })
    const ada = await face.as("ada")
    const fill = () => face.store.storage.setLimit(1000)
    const proposing = await ada.begin({ title: "Note" })
    const id = await ada.begin({ agent: "test" })
    const answered = ada.say(id, "look")
    await held.begun
    await fill()
    for (const [path, body] of [
      [`/api/conversations/${id}/messages`, { text: "more" }],
      ["/api/conversations", {}],
      [`/api/conversations/${id}/fork`, { position: 1 }],
    ] as const) {
      const refused = await ada.post(path, body)
      expect([path, refused.status, refused.body.code]).toEqual([path, 409, "storage_full"])
    }
    held.end("seen")
    const { body } = await answered
    expect(body.run).toMatchObject({ status: "completed" })
    expect(body.messages.at(-1)).toMatchObject({ content: "Seen." })

    await face.store.storage.setLimit(MEGABYTE)
    const { proposals } = (await ada.say(proposing, "A note, please")).body
    await fill()
    await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    await face.pawl.runtime.rest(proposing as ConversationId)
    const settled = (await ada.get(`/api/agent/proposals/${proposals[0].id}`)).body
    expect(settled.status).toBe("failed")
    expect((await ada.get("/api/workspace/notes")).body.items).toEqual([])
    const { messages } = (await ada.get(`/api/conversations/${proposing}`)).body
    expect(JSON.stringify(messages)).toContain("Your storage is full")
    expect((await ada.delete(`/api/conversations/${proposing}`)).status).toBe(204)
    expect(face.logged).toEqual([])
  })

  test("with a full storage a conversation's settings cannot change, but its mode can be narrowed", async () => {
    await using database = await create()
    const model = scripted(calls("write_thing"), always(says("Done.")))
    const tools = [write("write_thing")]
    await using face = await Face.open({ url: database.url, model, tools })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test", title: "Before" })
    const { proposals } = (await ada.say(id, "Write it")).body
    const path = `/api/conversations/${id}`
    const patch = (body: object) => ada.ask("PATCH", path, { body })
    const events = async () => (await face.store.conversations.find(await idOf(ada), id as ConversationId))!.position
    await face.store.storage.setLimit(1)
    const before = await events()
    const refused = [
      await patch({ title: "After" }),
      await patch({ mode: "auto" }),
      await patch({ settings: { temperature: 1 } }),
      await patch({ mode: "read-only", title: "After" }),
      await ada.post(`${path}/model`, { name: model.name }),
      await ada.post(`${path}/decide`, { decision: "all", proposalIds: [proposals[0].id] }),
    ]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [409, "storage_full"]))
    for (let again = 0; again < 3; again++) expect((await patch({ mode: "confirm" })).status).toBe(200)
    expect(await events()).toBe(before)

    const decided = await ada.post(`${path}/decide`, { decision: "none", proposalIds: [proposals[0].id] })
    expect(decided.body.proposals).toMatchObject([{ status: "rejected" }])
    expect((await ada.get(path)).body).toMatchObject({ title: "Before", mode: "read-only" })
    const narrowed = await events()
    expect((await patch({ mode: "read-only" })).status).toBe(200)
    expect((await patch({ mode: "confirm" })).body.code).toBe("storage_full")
    expect(await events()).toBe(narrowed)
    expect(face.logged).toEqual([])
  })

  test("with a full storage a user creates no tokens, and can still sign in", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const ada = await face.as("ada")
    const token = { name: "n".repeat(100), scopes: ["read"] }
    const before = await ada.post("/api/tokens", token)
    expect(before.status).toBe(201)
    await face.store.storage.setLimit(1)
    const refused = await ada.post("/api/tokens", token)
    expect([refused.status, refused.body.code]).toEqual([409, "storage_full"])
    expect((await ada.get("/api/tokens")).body.items).toHaveLength(2)
    expect((await ada.delete(`/api/tokens/${before.body.id}`)).status).toBe(204)
    const page = await face.as("ada")
    expect((await page.get("/api/storage")).status).toBe(200)
  })

  test("each table that refuses does so for a row beyond the limit, and rows can be deleted", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const ada = await face.as("ada")
    const user = await idOf(ada)
    const { engine, storage } = face.store
    await storage.setLimit(1)
    const change = (sql: string) => engine.change({ type: "statements", statements: [{ sql, values: [user] }] })
    for (const { table, column, names, refuses } of countedTables) {
      if (!refuses) continue
      const sql =
        engine.name === "sqlite"
          ? `SELECT name, type FROM pragma_table_info('${table}')`
          : `SELECT column_name::text AS name, upper(data_type)::text AS type FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = '${table}' AND is_generated = 'NEVER'`
      const columns = await engine.query<{ name: string; type: string }>(sql, [])
      const values = columns.map(({ name, type }) => {
        if (name === column) return names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"
        return /TEXT|BLOB|BYTEA/.test(type) ? "'a'" : "1"
      })
      const insert = `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) VALUES (${values.join(", ")})`
      await expect(change(insert), table).rejects.toMatchObject({ code: "storage_full" })
      const before = await storage.read(user)
      await storage.setLimit(MEGABYTE)
      await change(insert)
      await storage.setLimit(1)
      const where = `${column} = ${names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"}`
      await change(`DELETE FROM ${table} WHERE ${where}`)
      expect(await storage.read(user)).toEqual(before)
    }
  })
})
