import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { newId, type ConversationId, type UserId } from "../../core/protocol/ids.ts"
import { otherTables, personalTables } from "../../core/store/personal-tables.ts"
import type { Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { message, openWorld, TurnedClock } from "../support/loop/world.ts"

const DAY = 24 * 60 * 60 * 1000

const tablesOf = async ({ engine }: Store): Promise<string[]> => {
  const sql =
    engine.name === "sqlite"
      ? // A full-text index consists of tables there; triggers update it with its table.
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'passage_words%' AND name NOT LIKE 'passage_grams%'"
      : // The partitions of a table are erased with it.
        "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
  return (await engine.query<{ name: string }>(sql, [])).map(({ name }) => name)
}

/** The number of rows in each table that can contain data of a user. */
async function countRows({ engine }: Store): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  // Except the count of changed rows, which a node updates when it reads the others, and sums of bytes.
  const counts = ["news", "storage_use"]
  const tables = personalTables.map(({ table }) => table).filter((table) => !counts.includes(table))
  for (const table of [...tables, "conversation"]) {
    const where = table === "conversation" ? "WHERE person <> 0" : ""
    const [row] = await engine.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} ${where}`, [])
    if (row?.n) found[table] = row.n
  }
  return found
}

/** Rows whose conversation is deleted. */
async function orphans({ engine }: Store): Promise<string[]> {
  const keyed = personalTables.filter(({ names }) => names === "conversation key")
  const found = await Promise.all(
    keyed.map(async ({ table, column }) => {
      const sql = `SELECT 1 FROM ${table} WHERE ${column} NOT IN (SELECT key FROM conversation WHERE person <> 0)`
      return (await engine.query(sql, [])).length > 0 ? [table] : []
    }),
  )
  return found.flat()
}

const createsTask = () => scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))

/** A conversation in which a write was proposed, approved and applied. */
async function withATask(face: Face, name: string) {
  const who = await face.as(name)
  const id = await who.begin({ title: `${name}'s` })
  const { body } = await who.say(id, "milk")
  await who.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
  await face.pawl.runtime.rest(id as ConversationId)
  return { who, id, proposal: body.proposals[0].id as string, run: body.run.id as string }
}

describe.each(databases)("on $name", ({ create }) => {
  test("every table of the schema is erased with its user or conversation, or states why not", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const named = new Set([...personalTables.map(({ table }) => table), ...Object.keys(otherTables)])
    expect((await tablesOf(face.store)).sort()).toEqual([...named].sort())
  })

  test("a deleted conversation is gone with everything in it, like a missing one", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: createsTask() })
    const { who: ada, id, proposal, run } = await withATask(face, "ada")
    const missing = await ada.get(`/api/conversations/${newId("conv")}`)
    expect((await countRows(face.store)).applied_call).toBe(1)

    const deleted = await ada.ask("DELETE", `/api/conversations/${id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ""])
    // The task is in the user's list, not in the conversation.
    expect(await countRows(face.store)).toEqual({ token: 1, task: 1, workspace: 1 })
    for (const path of [`/api/conversations/${id}`, `/api/runs/${run}`, `/api/agent/proposals/${proposal}`]) {
      const { status, text } = await ada.get(path)
      expect([status, text]).toEqual([404, missing.text])
    }
    expect((await ada.say(id, "still there?")).status).toBe(404)
    expect((await ada.ask("DELETE", `/api/conversations/${id}`)).text).toBe(missing.text)
    expect((await ada.get("/api/conversations")).body.items).toEqual([])
  })

  test("a user cannot delete another user's data, or anything without the scope", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const ada = await face.as("ada")
    const id = await ada.begin()
    expect((await (await face.as("bob")).ask("DELETE", `/api/conversations/${id}`)).status).toBe(404)
    const speaker = await face.as("ada", "read", "chat", "approve", "admin")
    for (const path of [`/api/conversations/${id}`, "/api/me"])
      expect((await speaker.ask("DELETE", path)).status).toBe(403)
    expect((await ada.get(`/api/conversations/${id}`)).status).toBe(200)
  })

  test("running tool calls are stopped first: a write finishes, a read is aborted, and streams are closed", async () => {
    await using database = await create()
    const [reading, writing] = [new Held(), new Held()]
    const model = scripted(calls(["look", {}]), calls(["pay", {}]), always(says("Yes.")))
    const tools = [read("look", reading.run), write("pay", writing.run)]
    await using face = await Face.open({ url: database.url, model, tools })
    const ada = await face.as("ada")
    const looking = await ada.begin({ agent: "test" })
    const answered = ada.say(looking, "look")
    const signal = await reading.begun
    const watching = await ada.watch(looking)
    let told = ""
    const feed = (await ada.send("GET", "/api/feed")).body!.pipeThrough(new TextDecoderStream())
    void feed.pipeTo(new WritableStream({ write: (text) => void (told += text) })).catch(() => {})
    expect((await ada.ask("DELETE", `/api/conversations/${looking}`)).status).toBe(204)
    expect(signal.aborted).toBe(true)
    expect([200, 404], "cancelled, or gone").toContain((await answered).status)
    await watching.text() // ends, or this test does not
    await expect.poll(() => told).toContain(`event: conversation_deleted\ndata: {"conversationId":"${looking}"}`)

    const paying = await ada.begin({ agent: "test", mode: "auto" })
    const said = ada.say(paying, "pay")
    await writing.begun
    const deleting = ada.ask("DELETE", `/api/conversations/${paying}`)
    writing.end("paid")
    expect((await deleting).status).toBe(204)
    await said
    expect(await countRows(face.store)).toEqual({ token: 1 })
    expect(face.logged).toEqual([])
  })

  test("a writer that has not noticed the deletion writes into no other conversation", async () => {
    await using database = await create()
    const [first, second] = [new Held(), new Held()]
    const runs = [first.run, second.run]
    const model = scripted(calls("look"), calls("look"), always(says("Yes.")))
    const look = read("look", (...given) => runs.shift()!(...given))
    await using world = await openWorld({ url: database.url, model, tools: [look] })
    const { id } = await world.start("look")
    await first.begun
    await expect.poll(() => world.types(id)).toContain("tool_start")
    // As another node would: this one is not notified.
    expect(await world.store.retention.eraseConversation(world.user, id)).toBe(true)
    const bob = await world.store.people.ensure("bob", Date.now())
    // It has the same position as the other one, and the same writer: only its key distinguishes them.
    const other = await world.pawl.runtime.begin({ user: bob.id, agent: "test" }, message("look"))
    await second.begun
    await expect.poll(() => world.types(other.id)).toContain("tool_start")
    first.end("for ada only")
    await world.pawl.runtime.rest(id)
    second.end("for bob")
    await world.pawl.runtime.rest(other.id)
    const results = (await world.events(other.id)).flatMap((event) => (event.type === "tool_end" ? [event.text] : []))
    expect(results).toEqual(["for bob"])
    await expect(world.load(id)).rejects.toMatchObject({ code: "not_found" })
    expect(await orphans(world.store)).toEqual([])
    expect(world.problems).toEqual([])
  })

  test("messages and a deletion at the same time leave nothing behind, in any order", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted(always(says("Yes."))) })
    const ada = await face.as("ada")
    for (let round = 0; round < 15; round++) {
      const id = await ada.begin()
      const answers = await Promise.all([
        ada.say(id, "one"),
        ada.say(id, "two"),
        ada.ask("DELETE", `/api/conversations/${id}`),
        ada.say(id, "three"),
        ada.patch(`/api/conversations/${id}`, { title: "new" }),
      ])
      expect(answers.map(({ status }) => status).filter((status) => ![200, 202, 204, 404].includes(status))).toEqual([])
      await face.pawl.runtime.rest(id as ConversationId)
      expect((await ada.get(`/api/conversations/${id}`)).status).toBe(404)
    }
    expect(await orphans(face.store)).toEqual([])
    expect(await countRows(face.store)).toEqual({ token: 1 })
    expect(face.logged).toEqual([])
  })

  test("a user is deleted with everything, and others keep theirs", async () => {
    await using database = await create()
    const model = scripted(
      calls("create_task", { title: "Buy milk" }),
      says("Done."),
      calls("create_task", { title: "Feed cat" }),
      always(says("Done.")),
    )
    await using face = await Face.open({ url: database.url, model })
    const { who: bob, id: bobs } = await withATask(face, "bob")
    const before = await countRows(face.store)
    const { who: ada } = await withATask(face, "ada")
    expect((await ada.ask("DELETE", "/api/me")).status).toBe(204)
    expect(await countRows(face.store)).toEqual(before)
    expect((await ada.get("/api/conversations")).status).toBe(401)
    expect((await bob.get(`/api/conversations/${bobs}`)).body.title).toBe("bob's")
    const again = await face.as("ada")
    expect((await again.get("/api/conversations")).body.items).toEqual([])
    expect((await again.get("/api/export")).text).not.toContain("Feed cat")
  })

  test("data of work that ran while its user was erased is erased later, and a day later their row goes too", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using world = await openWorld({ url: database.url, model: scripted(always(says("Yes."))), clock })
    const { store } = world
    const { id: ada } = await store.people.ensure("ada", Date.now())
    await world.begin("hello")
    expect(await store.retention.erasePerson(ada)).toBe(true)
    expect(await store.retention.erasePerson(ada)).toBe(false)
    // A request that had identified its user before that.
    const { id } = await world.pawl.runtime.begin({ user: ada, agent: "test" }, message("too late"))
    await world.pawl.runtime.rest(id)
    const write = { action: "insert", table: "tasks", data: { title: "too late" } } as const
    await store.workspaceOf(ada).write(write, newId("call"))
    await store.retention.sweep()
    await expect(world.load(id)).rejects.toMatchObject({ code: "not_found" })
    expect(await orphans(store)).toEqual([])
    expect(await countRows(store)).toEqual({})
    const bob = await store.people.ensure("bob", Date.now())
    expect(bob.id).not.toBe(ada)
    await clock.advance(DAY + 1000)
    await store.retention.sweep()
    const people = await store.engine.query<{ name: string }>("SELECT name FROM person", [])
    expect(people.map(({ name }) => name)).toEqual(["bob"])
    expect(await store.engine.query("SELECT * FROM erased_person", [])).toEqual([])
  })

  test("an export has all data of the user and none of others, and no secret", async () => {
    await using database = await create()
    const model = scripted(
      calls("create_task", { title: "Feed cat" }),
      says("Done."),
      calls("create_task", { title: "Buy milk" }),
      always(says("Done.")),
    )
    await using face = await Face.open({ url: database.url, model })
    await withATask(face, "bob")
    const { who: ada, id } = await withATask(face, "ada")
    for (let i = 0; i < 60; i++) await ada.say(id, `question ${i}`)
    const { status, type, text } = await ada.get("/api/export")
    expect([status, type]).toEqual([200, "application/x-ndjson; charset=utf-8"])
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    const kinds: Record<string, number> = {}
    for (const { kind } of lines) kinds[kind] = (kinds[kind] ?? 0) + 1
    const { position } = (await ada.get(`/api/conversations/${id}`)).body
    expect(position).toBeGreaterThan(200)
    expect(kinds).toEqual({
      person: 1,
      conversation: 1,
      run: 61,
      event: position,
      proposal: 1,
      audit: 1,
      token: 1,
      task: 1,
      end: 1,
    })
    expect(lines.at(-1)).toEqual({ kind: "end", lines: lines.length - 1 })
    expect(lines.filter(({ kind }) => kind === "event").map((event) => event.position)).toEqual(
      Array.from({ length: position }, (_, i) => i + 1),
    )
    expect(lines.find(({ kind }) => kind === "task")).toMatchObject({ title: "Buy milk", isApproved: 1 })
    expect(text).not.toMatch(/Feed cat|hash":"[0-9a-f]{64}/)
    const [token] = await face.store.engine.query<{ hash: string }>("SELECT hash FROM token", [])
    expect(text).not.toContain(token?.hash)
  })
})

test.each(personalTables.filter(({ exported }) => typeof exported !== "string"))(
  "an export reads $table to the end, however long it is",
  async ({ table, column, names, exported }) => {
    await using database = await databases[0]!.create()
    await using world = await openWorld({ url: database.url, model: scripted() })
    const { engine, retention } = world.store
    const columns = await engine.query<{ name: string; type: string }>(
      `SELECT name, type FROM pragma_table_info('${table}')`,
      [],
    )
    const whose = names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"
    const values = columns.map(({ name, type }) =>
      name === column ? whose : type === "TEXT" ? `'${name}' || printf('%04d', i)` : "i",
    )
    const sql = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
      INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) SELECT ${values.join(", ")} FROM n`
    await engine.change({ type: "statements", statements: [{ sql, values: [world.user] }] })
    const lines: unknown[] = []
    for await (const line of retention.exportOf(world.user)) {
      if (line.kind === table) lines.push(line)
      if (lines.length > 250) break
    }
    expect(lines).toHaveLength(250)
    expect(Object.keys(lines[0] as object)).toHaveLength(exported.length + 1)
  },
)

test("an export is generated as fast as it is read, and stops when the client disconnects", async () => {
  await using database = await databases[0]!.create()
  let made = 0
  let ended = false
  async function* endless() {
    try {
      for (;;) yield { kind: "event", number: made++, text: "x".repeat(1000) }
    } finally {
      ended = true
    }
  }
  const instead = { retention: { exportOf: endless } as never }
  await using face = await Face.open({ url: database.url, model: scripted(), instead })
  const ada = await face.as("ada")
  const response = await ada.send("GET", "/api/export")
  const reader = response.body?.getReader()
  await reader?.read()
  await new Promise((resolve) => setImmediate(resolve))
  expect(made).toBeLessThan(10)
  await reader?.cancel()
  expect(ended).toBe(true)
})

test("an export yields to other requests while it reads from a database that answers at once", async () => {
  const sqlite = databases.find(({ name }) => name === "sqlite")
  await using database = await sqlite!.create()
  await using face = await Face.open({ url: database.url, model: scripted() })
  const ada = await face.as("ada")
  const notes = Array.from({ length: 120 }, (_, n) => ({ title: `Note ${n}`, content: "x".repeat(90_000) }))
  for (const note of notes) expect((await ada.post("/api/workspace/notes", note)).status).toBeLessThan(300)
  let turns = 0
  const count = () => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  let length = 0
  const [person] = await face.store.engine.query<{ id: UserId }>("SELECT id FROM person WHERE name = ?", ["ada"])
  for await (const line of face.store.retention.exportOf(person!.id)) length += JSON.stringify(line).length
  clearImmediate(counting)
  expect(length).toBeGreaterThan(10_000_000)
  // Without yielding there would be none, however long it takes.
  expect(turns).toBeGreaterThan(0)
})
