import { createHash } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile, mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { always, calls, says, scripted } from "../../core/testing.ts"
import type { ConversationId, UserId } from "../../core/protocol/ids.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { asMasterKey, fixedKeys } from "../../core/store/people/master-keys.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { MAX_LINE_BYTES } from "../../core/store/transfer/check-lines.ts"
import { exportLines } from "../../core/store/transfer/export-lines.ts"
import { importLines } from "../../core/store/transfer/import-lines.ts"
import { movedTables, readColumns, unmovedTables } from "../../core/store/transfer/moved-tables.ts"
import { Uploads } from "../../core/store/transfer/uploads.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { Face, testMasterKey } from "../support/server/face.ts"

type Line = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- lines of JSON

const uploadsOf = ({ engine }: Store, root: string) =>
  new Uploads(engine, { root, pathOf: (connection) => `csv/${connection}.db`, now: () => 7 })

async function exported(store: Store, { root = "/nowhere", user }: { root?: string; user?: UserId } = {}) {
  const uploads = uploadsOf(store, root)
  const left = { working: 0, unreadable: 0 }
  const lines: Line[] = []
  const source = { ...store, readUpload: uploads.read.bind(uploads) }
  for await (const line of exportLines(source, { user, left })) lines.push(JSON.parse(line))
  return { lines, left }
}

/** The bytes of a file: in chunks that end anywhere. */
async function* bytesOf(text: string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const toText = (lines: readonly (Line | string)[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)) + "\n").join("")

function imported(store: Store, lines: readonly (Line | string)[], { root = "/nowhere", engine = store.engine } = {}) {
  const uploads = uploadsOf(store, root)
  const { node, secrets } = store
  const target = { engine, node, secrets, now: () => 5_000_000_000_000, writeUpload: uploads.write.bind(uploads) }
  return importLines(target, () => bytesOf(toText(lines)))
}

/** A store on an empty database, and its url for a server. */
async function openEmpty({ create }: TestDatabase, masterKey = testMasterKey) {
  const database = await create()
  const store = await openStore({ url: database.url, durability: "normal", masterKeys: fixedKeys(masterKey) })
  const close = async () => {
    await store[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  }
  return { store, url: database.url, [Symbol.asyncDispose]: close }
}

const change = async (engine: Engine, sql: string, values: readonly unknown[] = []) => {
  await engine.change({ type: "statements", statements: [{ sql, values }] })
}

/** A row with something in each column. */
async function addRow(engine: Engine, table: (typeof movedTables)[number], user: UserId): Promise<void> {
  const columns = await readColumns(engine, { ...table, fixed: {} })
  const key = "(SELECT max(key) FROM conversation)"
  const sources = columns.map(({ name, type }) => {
    if (name === table.owner) return table.names === "person id" ? `'${user}'` : key
    if (type === "integer") return "7"
    return type === "bytes" ? "NULL" : `'${name === "edition" ? "edition_1" : `${table.table} ${name} ü 日本`}'`
  })
  const names = columns.map(({ name }) => name).join(", ")
  await change(engine, `INSERT INTO ${table.table} (${names}) VALUES (${sources.join(", ")})`)
}

const FILE = Buffer.alloc(1_500_000, "attachment ")
const CONNECTION = "conn_1"
const SECRET = { table: "connection", id: CONNECTION }

/** Ada with three conversations (done, waiting for approval, empty), something in every table, and Bob. */
async function openServer(database: TestDatabase, root: string) {
  const { url, ...created } = await database.create()
  const model = scripted(
    ...[calls("create_task", { title: "Buy milk" }), says("Done.")],
    ...[calls("create_task", { title: "Feed the cat" }), always(says("Done."))],
  )
  const face = await Face.open({ url, model })
  const { store } = face
  const ada = await face.as("ada")
  const { id: user } = await store.people.ensure("ada", 0)
  const done = await ada.begin({ title: "Milk" })
  const { body } = await ada.say(done, "milk")
  await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
  await face.pawl.runtime.rest(done as ConversationId)
  const waiting = await ada.begin({})
  await ada.say(waiting, "cat")
  const quiet = await ada.begin({ title: "Nothing yet" })
  await store.people.ensure("bob", 0)
  const own = ["client", "project", "checkpoint", "note", "task_comment", "tainted_row", "message_key"]
  const others = "statement_attempt usage query_result collection document document_text passage embedding"
  for (const table of movedTables)
    if ([...own, ...others.split(" ")].includes(table.table)) await addRow(store.engine, table, user)
  const sha256 = createHash("sha256").update(FILE).digest("hex")
  const file = { name: "a.txt", type: "text/plain", bytes: FILE, sha256, isNamedByProgram: false }
  const { id: fileId } = await store.messageFiles.keep(user, file as never, 1e9)
  await store.messageFiles.use(user, { conversation: done as ConversationId }, [fileId])
  await store.messageFiles.keepText(user, fileId, { text: "attachment" })
  await store.secrets.write({ ...SECRET, person: user }, "postgres://secret", ({ keyId, sealed }) => ({
    sql: `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      VALUES (?, ?, 'Sales', 'sqlite', ?, ?, 1, 2)`,
    values: [CONNECTION, user, keyId, sealed],
  }))
  await store.secrets.write({ table: "mcp_server", id: "mcp_1", person: user }, "{}", ({ keyId, sealed }) => ({
    sql: `INSERT INTO mcp_server (id, person, name, agents, key_id, sealed, created_at, updated_at)
      VALUES ('mcp_1', ?, 'Tools', '[]', ?, ?, 1, 2)`,
    values: [user, keyId, sealed],
  }))
  const tool = `INSERT INTO mcp_tool (server, tool, person, agreed_hash, agreed, seen_hash, seen, rule, updated_at)
    VALUES ('mcp_1', 'send', ?, 'h', '{}', 'h', '{}', 'always', 1)`
  await change(store.engine, tool, [user])
  const upload = join(root, user, "csv", `${CONNECTION}.db`)
  await mkdir(dirname(upload), { recursive: true })
  await writeFile(upload, FILE)
  return {
    ...{ face, store, ada, user, done, waiting, quiet, fileId },
    async [Symbol.asyncDispose]() {
      await face[Symbol.asyncDispose]()
      await created[Symbol.asyncDispose]()
    },
  }
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "pawl-transfer-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** The events of each conversation. */
function journalsIn(lines: readonly Line[]): Map<string, Line[]> {
  const journals = new Map<string, Line[]>()
  let events: Line[] = []
  for (const { conversation, event } of lines) {
    if (conversation) journals.set(conversation.id, (events = []))
    if (event) events.push(event)
  }
  return journals
}

const pairs = databases.flatMap((from) => databases.map((to) => ({ from, to, names: `${from.name} to ${to.name}` })))

describe.each(pairs)("a server that moves from $names", ({ from, to }) => {
  test("contains everything with its ids, and the next export is the same", async () => {
    await using folder = await temporaryFolder()
    const [root, otherRoot] = [join(folder.path, "one"), join(folder.path, "other")]
    await using old = await openServer(from, root)
    const { lines, left } = await exported(old.store, { root })
    expect(left).toEqual({ working: 1, unreadable: 0 })
    const tables = new Set(lines.map(({ table }) => table).filter(Boolean))
    expect(tables).toEqual(new Set([...movedTables.map(({ table }) => table), "message_file_part"].filter(notTested)))

    await using moved = await openEmpty(to)
    expect(await imported(moved.store, lines, { root: otherRoot })).toMatchObject({ people: 2, conversations: 3 })
    const again = await exported(moved.store, { root: otherRoot })
    expect(again.left).toEqual({ working: 0, unreadable: 0 })
    const [before, after] = [journalsIn(lines), journalsIn(again.lines)]
    expect(after.get(old.done)).toEqual(before.get(old.done))
    expect(after.get(old.quiet)).toEqual(before.get(old.quiet))
    const [waiting, cancelled] = [before.get(old.waiting)!, after.get(old.waiting)!]
    expect(cancelled.slice(0, waiting.length)).toEqual(waiting)
    expect(cancelled.slice(waiting.length)).toMatchObject([
      { type: "tool_end", status: "cancelled" },
      { type: "run_ended", status: "cancelled", reason: "imported" },
    ])
    const others = (all: readonly Line[]) => all.filter(({ event, end }) => !event && !end)
    expect(others(again.lines)).toEqual(others(lines))

    // There and back: what an import has settled stays settled.
    await using back = await openEmpty(from)
    await imported(back.store, again.lines, { root: join(folder.path, "back") })
    expect((await exported(back.store, { root: join(folder.path, "back") })).lines).toEqual(again.lines)
    expect(await mirrorRows(back.store)).toEqual(await mirrorRows(moved.store))
    expect(await mirrorRows(moved.store, old.done)).toMatchObject(await mirrorRows(old.store, old.done))
  })

  test("continues its conversations, and the server can decrypt its secrets", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(from, folder.path)
    const { lines } = await exported(old.store, { root: folder.path })
    await using moved = await openEmpty(to)
    await imported(moved.store, lines, { root: join(folder.path, "other") })
    expect(await moved.store.secrets.open({ ...SECRET, person: old.user }, await sealedIn(moved.store))).toBe(
      "postgres://secret",
    )
    const parts: Uint8Array[] = []
    for await (const bytes of moved.store.messageFiles.read(old.user, old.fileId)) parts.push(bytes)
    expect(Buffer.concat(parts).equals(FILE)).toBe(true)
    const file = join(folder.path, "other", old.user, "csv", `${CONNECTION}.db`)
    if (to.name === "sqlite") expect((await readFile(file)).equals(FILE)).toBe(true)

    const model = scripted(always(says("I am still here.")))
    await using face = await Face.open({ url: moved.url, model })
    const ada = await face.as("ada")
    for (const id of [old.done, old.waiting, old.quiet]) {
      const { status, body } = await ada.say(id, "And now?")
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining("I am still here.")])
    }
    const { body } = await ada.get("/api/agent/audit")
    expect(body.items).toMatchObject([{ tool: "create_task", conversationId: old.done }])
  })
})

describe.each(databases)("an import on $name", (database) => {
  test("that is killed at any write can be repeated, and nothing is imported twice", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(database, folder.path)
    await using whole = await openEmpty(database)
    const first = await exported(old.store, { root: folder.path })
    await imported(whole.store, first.lines, { root: join(folder.path, "whole") })
    // Without an open run, each import of it is the same.
    const { lines } = await exported(whole.store, { root: join(folder.path, "whole") })
    let [writes, total] = [0, 20]
    for (let fatal = 1; fatal <= total; fatal += 2) {
      await using killed = await openEmpty(database)
      const root = join(folder.path, String(fatal))
      const { engine } = killed.store
      writes = 0
      const write = async (operation: never) => {
        if (++writes === fatal) throw new Error("killed")
        const outcome = await engine.change(operation)
        if (writes === fatal + 1) throw new Error("killed") // its answer is lost
        return outcome
      }
      const dying = { ...engine, change: write as Engine["change"] }
      const isWhole = await imported(killed.store, lines, { root, engine: dying }).catch(() => undefined)
      if (isWhole) total = writes
      await change(engine, "INSERT INTO usage_summed (person, day) VALUES (?, '2026-01-01')", [old.user])
      await imported(killed.store, lines, { root })
      expect(await engine.query("SELECT * FROM usage_summed", [])).toEqual([])
      expect((await exported(killed.store, { root })).lines).toEqual(lines)
      expect(await mirrorRows(killed.store)).toEqual(await mirrorRows(whole.store))
    }
    expect(total).toBeGreaterThan(5)
  })

  test("of one user leaves the others out", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(database, folder.path)
    const { id: bob } = await old.store.people.ensure("bob", 0)
    const { lines } = await exported(old.store, { user: bob })
    expect(lines).toMatchObject([{ people: 1 }, { person: { id: bob, name: "bob" } }, { end: 2 }])
    await using moved = await openEmpty(database)
    expect(await imported(moved.store, lines)).toMatchObject({ people: 1, conversations: 0, rows: 0 })
  })

  test("revokes the grants and automatic modes of the other server", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(database, folder.path)
    const { lines } = await exported(old.store, { root: folder.path })
    for (const { event } of lines) {
      if (event?.type === "conversation_started") event.mode = "auto"
      if (event?.type === "decision") event.grant = { uses: 100 }
    }
    await using moved = await openEmpty(database)
    await imported(moved.store, lines, { root: join(folder.path, "moved") })
    const after = journalsIn((await exported(moved.store)).lines)
    const added = after.get(old.done)!.slice(journalsIn(lines).get(old.done)!.length)
    expect(added).toMatchObject([
      { type: "grant_revoked", by: "import" },
      { type: "settings", mode: "confirm" },
    ])
    for (const id of [old.done, old.waiting, old.quiet]) {
      const { mode, grants, run, proposals } = await moved.store.journal.load(id as ConversationId)
      expect([mode, grants.size, run?.status ?? "completed", proposals.size]).toEqual([
        ...["confirm", 0],
        ...[id === old.waiting ? "cancelled" : "completed", 0],
      ])
    }
    const sql = "SELECT agreed, agreed_hash, rule, seen_hash FROM mcp_tool"
    expect(await moved.store.engine.query(sql, [])).toMatchObject([{ agreed: null, agreed_hash: null, rule: null }])
    for (const table of ["token", "session", "shared_run", "program_grant", "issuer_identity", "device"])
      expect(await moved.store.engine.query(`SELECT * FROM ${table}`, [])).toEqual([])
  })

  test("leaves out values that another master key encrypted, and says so", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(database, folder.path)
    const { lines } = await exported(old.store, { root: folder.path })
    await using moved = await openEmpty(database, asMasterKey(Buffer.alloc(32, "another")))
    const { leftOut } = await imported(moved.store, lines, { root: join(folder.path, "moved") })
    expect([...leftOut]).toEqual([
      ["connection", 1],
      ["mcp_server", 1],
      ["mcp_tool", 1],
    ])
    expect(await moved.store.engine.query("SELECT 1 FROM mcp_tool", [])).toEqual([])
    // A secret of another row, or of another user, cannot be decrypted.
    const forged = lines.map((line) =>
      line.table === "connection" ? { ...line, row: { ...line.row, id: "conn_2" } } : line,
    )
    await using same = await openEmpty(database)
    expect([...(await imported(same.store, forged)).leftOut]).toEqual([["connection", 1]])
  })

  test("changes nothing that belongs to another user, and names the line", async () => {
    await using folder = await temporaryFolder()
    await using old = await openServer(database, folder.path)
    const { lines } = await exported(old.store, { root: folder.path })
    const at = (find: (line: Line) => unknown) => lines.findIndex(find) + 1
    const person = "INSERT INTO person (id, name, created_at) VALUES (?, ?, 0)"
    const cases: [string, number, (engine: Engine) => Promise<void>][] = [
      [
        "another person has this name",
        at(({ person }) => person),
        (engine) => change(engine, person, ["user_x", "ada"]),
      ],
      [
        "another person has the conversation",
        at(({ conversation }) => conversation),
        async (engine) => {
          await change(engine, person, ["user_x", "eve"])
          const sql = `INSERT INTO conversation (id, person, agent, mode, status, fence, created_at, updated_at)
            SELECT ?, key, 'test', 'confirm', 'active', 1, 0, 0 FROM person`
          await change(engine, sql, [old.done])
        },
      ],
      [
        "another conversation has prop_",
        at(({ conversation }) => conversation),
        async (engine) => {
          const id = lines.find(({ event }) => event?.type === "awaiting_confirmation")!.event.proposals[0].id
          const sql = `INSERT INTO proposal (id, conversation, run_id, position, status, expires_at)
            VALUES (?, 999, 'run_x', 1, 'pending', 1)`
          await change(engine, sql, [id])
        },
      ],
      [
        "another row of note",
        at(({ table }) => table === "note"),
        (engine) =>
          change(
            engine,
            "INSERT INTO note (id, person, created_at, updated_at, title, content) VALUES ('note id ü 日本', 'user_x', 1, 1, 't', 'c')",
          ),
      ],
    ]
    for (const [problem, line, prepare] of cases) {
      await using moved = await openEmpty(database)
      await prepare(moved.store.engine)
      const importing = imported(moved.store, lines, { root: join(folder.path, problem) })
      await expect(importing).rejects.toThrow(`Line ${line}: `)
      await expect(importing).rejects.toThrow(problem)
    }
  })
})

describe("a hostile file", () => {
  const header = { pawl: "export", format: 1, people: 1 }
  const person = {
    ...{ id: "user_ada", name: "ada", called: null, created_at: 1 },
    ...{ chosen_model: null, page_model: null, terminal_model: null },
  }
  const conversation = { id: "conv_1", created_at: 1, updated_at: 2 }
  const started = {
    ...{ type: "conversation_started", version: 1, position: 1, at: 1, agent: "test", mode: "confirm" },
    ...{ model: null, provider: null, title: null },
  }
  const note = {
    ...{ id: "note_1", person: "user_ada", created_at: 1, updated_at: 1, project_id: null },
    ...{ title: "Title", content: "Content" },
  }
  const file = { id: "file_1", person: "user_ada", hash: "00", name: "a", type: "b", size: 1, created_at: 1 }
  const row = (fields: object, table = "note") => ({ table, row: { ...note, ...fields } })
  const nested = "[".repeat(5000) + "]".repeat(5000)

  test.each<[string, (Line | string)[], number, RegExp]>([
    ["is empty", [], 1, /ends before the export/],
    ["is no export", [{ kind: "person" }], 1, /not the first line of an export/],
    ["has another format", [{ ...header, format: 2 }], 1, /format 2/],
    ["is not JSON", [header, "{"], 2, /not JSON/],
    ["has a line that is too long", [header, "x".repeat(MAX_LINE_BYTES + 1)], 2, /longer than 33554432 bytes/],
    ["is nested too deeply", [header, nested], 2, /levels|deep/],
    ["has an unknown line", [header, { evil: 1 }], 2, /not a line of an export/],
    ["has a prototype", [header, `{"__proto__":{"polluted":1},"person":{}}`], 2, /not a/],
    ["has no person first", [header, row({})], 2, /no person comes before/],
    ["has a person that is none", [header, { person: { ...person, id: "x" } }], 2, /not a person/],
    ["has a person with a name for a terminal", [header, { person: { ...person, name: "a\u001b[2Jb" } }], 2, /name/],
    ["has an unknown table", [header, { person }, row({}, "token")], 3, /no table token/],
    ["has a table of the engine", [header, { person }, row({}, "sqlite_master; DROP TABLE note")], 3, /no table/],
    ["has an unknown column", [header, { person }, row({ "id) --": 1 })], 3, /unknown column/],
    ["has a prototype in a row", [header, { person }, `{"table":"note","row":{"__proto__":{}}}`], 3, /unknown column/],
    ["has a wrong type", [header, { person }, row({ title: 7 })], 3, /title is not a text/],
    ["has an object for a text", [header, { person }, row({ title: {} })], 3, /title is not a text/],
    ["has a number that is none", [header, { person }, row({ created_at: 1e300 })], 3, /created_at/],
    ["has a NUL", [header, { person }, row({ title: "a\0b" })], 3, /text that can be stored/],
    ["leaves a column out", [header, { person }, row({ title: undefined })], 3, /has no title/],
    ["has a row of someone else", [header, { person }, row({ person: "user_eve" })], 3, /does not belong to user_ada/],
    ["has an event without a conversation", [header, { person }, { event: started }], 3, /no conversation/],
    [
      "has a conversation twice",
      [header, { person }, { conversation }, { event: started }, { conversation }],
      5,
      /comes twice/,
    ],
    ["has a conversation without events", [header, { person }, { conversation }, { end: 3 }], 4, /has no events/],
    [
      "has an event of a newer version",
      [header, { person }, { conversation }, { event: { ...started, version: 99 } }],
      4,
      /newer|version/,
    ],
    [
      "has events out of order",
      [header, { person }, { conversation }, { event: started }, { event: { ...started, position: 3 } }],
      5,
      /position 3, and 2 comes next/,
    ],
    [
      "has an event that does not follow",
      [
        ...[header, { person }, { conversation }, { event: started }],
        {
          event: {
            type: "decision",
            version: 1,
            position: 2,
            at: 2,
            proposalId: "prop_1",
            decision: "commit",
            by: "x",
          },
        },
        { event: { type: "tool_start", version: 1, position: 3, at: 1, callId: "call_1" } },
      ],
      6,
      /older than|does not follow/,
    ],
    ["has bytes that are not the file's", [header, { person }, row(file, "message_file"), { end: 3 }], 4, /not those/],
    ["counts wrongly", [header, { person }, { end: 7 }], 3, /counts 7 lines/],
    ["goes on after its end", [header, { person }, { end: 2 }, { person }], 4, /has ended/],
    ["ends early", [header, { person }], 3, /ends before the export/],
  ])("that %s is refused with the line, and changes nothing", async (_, lines, line, problem) => {
    await using moved = await openEmpty(databases[0]!)
    const cleaned = lines.map((each) =>
      typeof each === "object" && each.table === "message_file" ? { ...each, row: file } : each,
    )
    const importing = imported(moved.store, cleaned)
    await expect(importing).rejects.toThrow(problem)
    await expect(importing).rejects.toThrow(`Line ${line}: `)
    expect(await moved.store.engine.query("SELECT 1 FROM person", [])).toEqual([])
    expect(({} as Line).polluted).toBeUndefined()
  })

  test("that is not UTF-8 is refused with the line", async () => {
    await using moved = await openEmpty(databases[0]!)
    const { engine, node, secrets } = moved.store
    const target = { engine, node, secrets, now: () => 1, writeUpload: async () => {} }
    async function* bytes() {
      yield Buffer.from(`${JSON.stringify(header)}\n`)
      yield Buffer.from([0xff, 0x0a])
    }
    await expect(importLines(target, bytes)).rejects.toThrow("Line 2: it is not UTF-8.")
  })
})

test("every table is moved, or states why not", async () => {
  await using empty = await openEmpty(databases[0]!)
  const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
    AND name NOT LIKE 'passage\\_words%' ESCAPE '\\' AND name NOT LIKE 'passage\\_grams%' ESCAPE '\\' ORDER BY name`
  const tables = (await empty.store.engine.query<{ name: string }>(sql, [])).map(({ name }) => name)
  const listed = [...movedTables.map(({ table }) => table), ...Object.keys(unmovedTables)]
  expect(listed.sort()).toEqual(tables)
})

const notTested = (table: string) => table !== "provider_key"

/** The rows that are written from the journal. */
async function mirrorRows({ engine }: Store, id?: string) {
  const where = id === undefined ? "" : ` WHERE conversation_id = '${id}'`
  const [conversations, ...rest] = await Promise.all(
    [
      `SELECT * FROM conversations${id === undefined ? "" : ` WHERE id = '${id}'`} ORDER BY id`,
      ...["runs", "proposals", "audit", "messages"].map((view) => `SELECT * FROM ${view}${where} ORDER BY 1, 2`),
    ].map((sql) => engine.query<Line>(sql, [])),
  )
  // The journal has the time at which a decision was recorded; the row, the time at which it arrived.
  for (const row of rest.flat()) if ("decided_at" in row) row.decided_at = row.decided_at !== null
  return [conversations, ...rest]
}

async function sealedIn({ engine }: Store) {
  const sql = "SELECT key_id, sealed FROM connection"
  const [row] = await engine.query<{ key_id: string; sealed: string }>(sql, [])
  return { keyId: row!.key_id, sealed: row!.sealed }
}
