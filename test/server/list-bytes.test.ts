import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import { type RouteName, routes } from "../../core/protocol/routes/index.ts"
import type { Route } from "../../core/protocol/routes/route.ts"
import { type TableName, tableNames } from "../../core/protocol/workspace-tables.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { databases } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"

/** Each kind has more rows than one page of a list may read. */
const ROWS = 30
const LONG = 100_000
/** The maximal number of such texts in one reply. */
const CALLS = 9
const text = (number: number) => `${number} `.padEnd(LONG, "long ")

/** The maximal size of one page of a list. */
const MAX_ANSWER = 1_000_000
/** The most that the store may read for a page: one event can hold several proposals. */
const MAX_READ = 5 * 1024 * 1024
/** The most that the database may read from its file for a page. A shortened text is read whole. */
const MAX_STORED = 8 * 1024 * 1024
/** The newest messages of a conversation come with its open proposals and are shortened. */
const MAX_DETAIL = 3_500_000

interface Filled {
  readonly ada: Visitor
  readonly spoken: string
  readonly proposed: string
  readonly run: string
  readonly collection: string
}

interface ListCheck {
  path(filled: Filled): string
  /** How many items all pages have together. */
  readonly items: number
  readonly most?: number
}

const rowsOf = (table: TableName, query = ""): ListCheck => ({
  path: () => `/api/workspace/${table}?${query}`,
  items: ROWS,
})

/** The lists whose rows can be long, each with data to show its bound. */
const bounded: Partial<Record<RouteName, readonly ListCheck[]>> = {
  listRows: [
    ...tableNames.map((table) => rowsOf(table)),
    rowsOf("notes", "orderBy=title"),
    rowsOf("notes", "search=long"),
    rowsOf("tasks", "orderBy=dueDate&dueDateFrom=2026-01-01"),
    rowsOf("notes", "limit=7"),
  ],
  listProposals: [
    { path: () => "/api/agent/proposals?status=pending", items: 6 * CALLS },
    { path: () => "/api/agent/proposals?limit=200", items: 9 * CALLS },
    { path: ({ proposed }) => `/api/agent/proposals?conversationId=${proposed}`, items: CALLS },
  ],
  listAudit: [{ path: () => "/api/agent/audit?limit=200", items: 3 * CALLS }],
  readConversation: [{ path: ({ spoken }) => `/api/conversations/${spoken}`, items: 0, most: MAX_DETAIL }],
  readMessages: [
    { path: ({ spoken }) => `/api/conversations/${spoken}/messages?limit=200`, items: 0, most: MAX_DETAIL },
  ],
  listQueue: [{ path: ({ spoken }) => `/api/conversations/${spoken}/queue`, items: ROWS }],
  listDocuments: [{ path: ({ collection }) => `/api/collections/${collection}/documents?limit=200`, items: ROWS }],
  readRunJournal: [{ path: ({ run }) => `/api/runs/${run}/journal`, items: 0, most: MAX_DETAIL }],
  readThread: [{ path: ({ spoken }) => `/api/chat/${spoken}`, items: 0, most: MAX_DETAIL }],
}

const ONE = "one thing, bounded where it is made"
const SMALL = "at most 200 rows of short names"
const SERVER = "what this server has, the same for everybody"
const STREAM = "a stream, read and sent in pieces"

/** All other routes, each with the reason. */
const others: Partial<Record<RouteName, string>> = {
  ...all(SERVER, [
    "listModels",
    "listAgents",
    "listTools",
    "listOpenAiModels",
    "readSignInWays",
    "openapi",
    "home",
    "apiReference",
    "docs",
  ]),
  ...all(SERVER, [
    "healthz",
    "readyz",
    "metrics",
    "readProtectedResource",
    "readProtectedMcp",
    "readAuthorizationServer",
  ]),
  ...all(SERVER, ["readMcpClient"]),
  ...all(SMALL, ["listSessions", "listTokens", "listConversations", "listRuns", "listCollections", "listConnections"]),
  ...all(SMALL, ["listSharedRuns", "listDevices", "listDeviceRequests", "listGrants", "listProviders"]),
  ...all(SMALL, ["listOpenAiFiles"]),
  listMcpServers: "pages, bounded by how long the tools of their servers are (test/mcp/own-servers.test.ts)",
  ...all(STREAM, ["openSocket", "watchConversation", "watchFeed", "exportAll", "exportWorkspace", "exportResult"]),
  ...all(STREAM, ["resumeUiStream", "openMcpStream", "readFile", "readOpenAiFileContent"]),
  ...all(ONE, [
    "readConsent",
    "readIdentity",
    "readMessage",
    "readState",
    "readModel",
    "readConversationItem",
    "readOpenAiConversation",
    "readOpenAiFile",
    "readOpenAiModel",
    "readRun",
    "readRunOfMessage",
  ]),
  ...all(ONE, ["readCollection", "readDocument", "readDocumentText", "readPassage", "readConnection", "readSchema"]),
  ...all(ONE, [
    "readResult",
    "readRow",
    "readResponse",
    "readThreadState",
    "readThreadModel",
    "readProvider",
    "readUsage",
    "readStorage",
  ]),
  ...all(ONE, ["readAudit", "readProposal"]),
  readUiChat: "the newest runs of a chat, bounded by how long they are (test/dialects/long-runs.test.ts)",
  listConversationItems:
    "the items of a conversation, bounded as they are sent (test/dialects/openai/conversations.test.ts)",
  listInputItems: "the items of one run, bounded as they are sent",
}

function all(reason: string, names: readonly RouteName[]) {
  return Object.fromEntries(names.map((name) => [name, reason]))
}

test("every route that reads has a limit in bytes, or is listed with the reason why it needs none", () => {
  const reading = Object.entries<Route>(routes).filter(([, { method }]) => method === "GET")
  expect([...Object.keys(bounded), ...Object.keys(others)].sort()).toEqual(reading.map(([name]) => name).sort())
})

describe.each(databases)("with a user who has long texts, on $name", ({ create }) => {
  test("no page of a list is longer or reads more than its limit, and together the pages have all rows", async () => {
    const proposals = calls(
      ...Array.from({ length: CALLS }, (_, i) => ["create_note", { title: `${i}`, content: text(i) }] as const),
    )
    const replies = Array.from({ length: ROWS / 2 }, (_, i) => says(text(i)))
    await using face = await Face.open({
      url: (await create()).url,
      model: scripted(
        ...Array.from({ length: 3 }, () => [proposals, says("Done.")]).flat(),
        ...Array.from({ length: 6 }, () => proposals),
        ...replies,
      ),
    })
    const filled = await fill(face)
    const counted = countReading(face.store.engine)
    const stored = await countStored(face.store.engine)
    for (const [name, checks] of Object.entries(bounded))
      for (const { path, items, most = MAX_ANSWER } of checks) {
        const seen = new Set<string>()
        for (let cursor: string | null | undefined; cursor !== null;) {
          const before = counted.bytes
          const storedBefore = stored()
          const place = path(filled)
          const next = cursor === undefined ? place : `${place}${place.includes("?") ? "&" : "?"}cursor=${cursor}`
          const { status, text: said, body } = await filled.ada.get(next)
          const about = `${name} ${next}`
          expect(status, `${about}: ${said.slice(0, 300)}`).toBe(200)
          expect(said.length, `${about} answers`).toBeLessThanOrEqual(most)
          expect(counted.bytes - before, `${about} reads`).toBeLessThanOrEqual(Math.max(most, MAX_READ))
          expect(stored() - storedBefore, `${about} reads of its tables`).toBeLessThanOrEqual(MAX_STORED)
          for (const { id } of items > 0 ? body.items : []) seen.add(id)
          cursor = items > 0 ? encodeCursor(body.nextCursor) : null
        }
        expect(seen.size, `${name} ${path(filled)} has all`).toBe(items)
      }
  })

  test("a shortened text has its full length, and the row by itself has the whole text", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const ada = await face.as("ada")
    const content = "ä".repeat(LONG)
    const { id } = (await ada.post("/api/workspace/notes", { title: "Long", content })).body
    const short = (await ada.post("/api/workspace/notes", { title: "Short", content: "ä".repeat(2000) })).body
    const { items } = (await ada.get("/api/workspace/notes")).body
    expect(items.map(({ title }: { title: string }) => title)).toEqual(["Long", "Short"])
    expect(items[0]).toMatchObject({ id, content: "ä".repeat(2000), truncated: { content: 2 * LONG } })
    expect(items[1]).toEqual(short)
    expect((await ada.get(`/api/workspace/notes/${id}`)).body.content).toBe(content)
    const exported = (await ada.get("/api/workspace/export")).body
    expect(exported.notes.map((note: { content: string }) => note.content.length)).toEqual([LONG, 2000])
  })

  test("an export that is larger than memory allows is sent whole, in pieces", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const ada = await face.as("ada")
    await fillWorkspace(face.store.engine, (await ada.get("/api/auth/me")).body.user.id)
    const counted = countReading(face.store.engine)
    const token = await face.store.people.createToken(await face.store.people.ensure("ada", 0), ["read", "manage"], 0)
    const response = await face.server.app.fetch(
      new Request("http://localhost/api/workspace/export", { headers: { authorization: `Bearer ${token.token}` } }),
      undefined as never,
    )
    const exported = JSON.parse(await response.text())
    for (const table of tableNames) expect(exported[table], table).toHaveLength(ROWS)
    expect(counted.most).toBeLessThanOrEqual(MAX_READ)
    counted.most = 0
    const lines = (await ada.get("/api/export")).text.trim().split("\n")
    expect(lines.filter((line) => line.startsWith(`{"kind":"note"`))).toHaveLength(ROWS)
    expect(counted.most).toBeLessThanOrEqual(MAX_READ)
  })
})

const encodeCursor = (cursor: string | null) => (cursor === null ? null : encodeURIComponent(cursor))

async function fill(face: Face): Promise<Filled> {
  const ada = await face.as("ada")
  const user = (await ada.get("/api/auth/me")).body.user.id as UserId
  const { engine } = face.store
  let [applied, proposed] = ["", ""]
  for (let i = 0; i < 3; i++) {
    applied = await ada.begin()
    const { proposals } = (await ada.say(applied, "notes")).body
    const proposalIds = proposals.map(({ id }: { id: string }) => id)
    const decided = await ada.post(`/api/conversations/${applied}/decide`, { decision: "yes", proposalIds })
    expect([decided.status, proposalIds.length], decided.text.slice(0, 300)).toEqual([200, CALLS])
    await face.pawl.runtime.rest(applied as never)
  }
  await change(engine, "DELETE FROM note WHERE person = ?", [user])
  for (let i = 0; i < 6; i++) {
    proposed = await ada.begin()
    expect((await ada.say(proposed, "notes")).body.proposals).toHaveLength(CALLS)
  }
  const spoken = await ada.begin({ agent: "test" })
  for (let i = 0; i < ROWS / 2; i++) expect((await ada.say(spoken, text(i))).status).toBe(200)
  const [run] = (await ada.get(`/api/conversations/${applied}/runs`)).body.items
  const collection = (await ada.post("/api/collections", { name: "Papers" })).body.id
  await fillWorkspace(engine, user)
  for (let i = 0; i < ROWS; i++) {
    const authors = JSON.stringify(Array.from({ length: 200 }, (_, n) => `${i} ${n}`.padEnd(700, "x")))
    await change(
      engine,
      `INSERT INTO document (id, person, collection, source, format, title, authors, day, hash, edition, reason, characters, passages, created_at, updated_at)
        VALUES (?, ?, ?, ?, 'text', 'A', ?, NULL, 'h', '', NULL, 0, 0, ?, 0)`,
      [newId("doc", user), user, collection, `${i}`, authors, i],
    )
    const waiting = { type: "message", id: newId("msg", user), text: text(i), when: "queue" }
    await change(
      engine,
      `INSERT INTO inbox (conversation, number, id, body, created_at)
        VALUES ((SELECT key FROM conversation WHERE id = ?), ?, ?, ?, 0)`,
      [spoken, 1000 + i, `inbox_${i}`, JSON.stringify(waiting)],
    )
  }
  return { ada, spoken, proposed, run: run.id, collection }
}

/** Rows with long texts, also in single-line fields. */
async function fillWorkspace(engine: Engine, user: UserId): Promise<void> {
  const insert = (table: string, columns: Record<string, unknown>) => {
    const names = Object.keys(columns)
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`
    return change(engine, sql, Object.values(columns))
  }
  const common = (prefix: "task" | "proj" | "chk" | "note" | "cmt" | "cli", i: number) => ({
    id: newId(prefix, user),
    person: user,
    created_at: i % 3,
  })
  const flags = { is_ai_suggested: 0, is_approved: 1 }
  for (let i = 0; i < ROWS; i++) {
    await insert("note", { ...common("note", i), title: text(i), content: text(i), updated_at: 0 })
    const state = { status: "todo", priority: "low", due_date: Date.UTC(2026, 5, 1) + i }
    await insert("task", { ...common("task", i), title: "T", description: text(i), ...state, ...flags })
    await insert("task_comment", { ...common("cmt", i), task_id: "x", author: "a", content: text(i) })
    await insert("project", { ...common("proj", i), name: "P", ai_summary: text(i), status: "active" })
    await insert("checkpoint", { ...common("chk", i), project_id: "x", title: text(i), date: 0, ...flags })
    await insert("client", { ...common("cli", i), name: text(i) })
  }
}

const change = (engine: Engine, sql: string, values: unknown[]) =>
  engine.change({ type: "statements", statements: [{ sql, values }] })

/**
 * Counts the bytes of all pages that the database reads, whether they are returned or not: SQLite reads them on this
 * thread, PostgreSQL reports them in its plans.
 */
async function countStored(engine: Engine): Promise<() => number> {
  if (engine.name === "sqlite") {
    const file = "/proc/thread-self/io" // on Linux only
    return () => (existsSync(file) ? Number(/^rchar: (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]) : 0)
  }
  let bytes = 0
  const query = engine.query.bind(engine)
  engine.query = async <Row>(sql: string, values: readonly unknown[]) => {
    const [plan] = await query<Planned>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, values)
    const { "Shared Hit Blocks": cached = 0, "Shared Read Blocks": read = 0 } = plan?.["QUERY PLAN"][0]?.Plan ?? {}
    bytes += (cached + read) * 8192
    return query<Row>(sql, values)
  }
  return () => bytes
}

interface Planned {
  readonly "QUERY PLAN": readonly { readonly Plan: Readonly<Record<string, number>> }[]
}

/** Counts the bytes that the database returns to the process: in total, and the most for one query. */
function countReading(engine: Engine): { bytes: number; most: number } {
  const counted = { bytes: 0, most: 0 }
  const count = <Rows>(rows: Rows): Rows => {
    const length = JSON.stringify(rows)?.length ?? 0
    counted.bytes += length
    counted.most = Math.max(counted.most, length)
    return rows
  }
  const { query, events } = engine
  engine.query = async <Row>(sql: string, values: readonly unknown[]) =>
    count(await (query as Engine["query"]).call(engine, sql, values)) as Row[]
  engine.events = async (key, range) => count(await events.call(engine, key, range))
  return counted
}
