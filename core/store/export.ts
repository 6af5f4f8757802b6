import { setImmediate as nextTurn } from "node:timers/promises"
import type { ExportLine } from "../protocol/account/export.ts"
import { hasCode } from "../protocol/errors.ts"
import type { ConversationId, FileId, UserId } from "../protocol/ids.ts"
import type { SqlAudit } from "./journal/audit.ts"
import type { SqlMessageFiles } from "./files/message-files.ts"
import type { SqlConversations } from "./journal/conversations.ts"
import type { Engine } from "./engine/engine.ts"
import { bytesOf, fittingRows, MAX_LIST_READ_BYTES } from "./engine/page-bytes.ts"
import type { SqlJournal } from "./journal/journal.ts"
import { readPackTables } from "./packs/register.ts"
import { personalTables, type PersonalTable } from "./personal-tables.ts"
import type { SqlProposals } from "./journal/proposals.ts"
import { toTime } from "./engine/row-values.ts"

/** Rows in memory at a time, however large the export is. */
const PAGE = 100

export interface ExportSource {
  readonly engine: Engine
  readonly journal: SqlJournal
  readonly conversations: SqlConversations
  readonly proposals: SqlProposals
  readonly audit: SqlAudit
  readonly messageFiles: SqlMessageFiles
}

/**
 * How long the export works before other requests get a turn: SQLite answers at once, so awaiting it does not yield.
 */
const TURN_MS = 5

/**
 * Exports everything of a person, page by page. Not a snapshot: later changes are included if they come before they are
 * read, and a conversation that is deleted meanwhile ends early.
 */
export async function* exportOf(source: ExportSource, user: UserId): AsyncGenerator<ExportLine> {
  let since = performance.now()
  for await (const line of linesOf(source, user)) {
    yield line
    if (performance.now() - since < TURN_MS) continue
    await nextTurn()
    since = performance.now()
  }
}

async function* linesOf(source: ExportSource, user: UserId): AsyncGenerator<ExportLine> {
  const sql = "SELECT id, coalesce(called, name) AS name, created_at FROM person WHERE id = ?"
  const [person] = await source.engine.query<{ id: string; name: string; created_at: number }>(sql, [user])
  if (!person) return
  yield { kind: "person", id: person.id, name: person.name, createdAt: toTime(person.created_at) }
  for await (const conversation of pages((page) => source.conversations.list(user, page))) {
    yield { kind: "conversation", ...conversation }
    yield* ofConversation(source, conversation.id)
  }
  for await (const proposal of pages((page) => source.proposals.list(user, page)))
    yield { kind: "proposal", ...proposal }
  for await (const entry of pages((page) => source.audit.list(user, page))) yield { kind: "audit", ...entry }
  const tables: readonly PersonalTable[] = [...personalTables, ...(await readPackTables(source.engine))]
  for (const { table, column, names, exported, place = ["id"] } of tables) {
    if (typeof exported === "string") continue
    const whose = names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"
    const rows = rowsOf(source.engine, { table, where: `${column} = ${whose}`, columns: exported, place, user })
    yield* table === "message_file" ? withBytes(source.messageFiles, rows, user) : rows
  }
}

async function* ofConversation({ engine, journal, conversations }: ExportSource, id: ConversationId) {
  try {
    for await (const run of pages((page) => conversations.runs(id, page))) yield { kind: "run" as const, ...run }
    for (let [after, limit] = [0, 1]; ;) {
      const { events, found, length } = await journal.readPage(id, { after, limit, maxLength: MAX_LIST_READ_BYTES })
      for (const event of events) yield { kind: "event" as const, conversationId: id, ...event }
      if (found < limit && events.length === found) break
      after = events.at(-1)?.position ?? after
      // The number of events that would have fitted into the last page.
      limit = Math.max(1, Math.min(PAGE, 2 * limit, Math.floor((found * MAX_LIST_READ_BYTES) / Math.max(1, length))))
    }
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error // deleted while we read
  }
  const sql = `SELECT number, body, created_at FROM inbox WHERE conversation = (SELECT key FROM conversation WHERE id = ?)
    AND number > ? ORDER BY number LIMIT ?`
  for (let after = 0; ;) {
    // One at a time, because each may be as large as the largest message.
    const rows = await engine.query<{ number: number; body: string; created_at: number }>(sql, [id, after, 1])
    for (const { number, body, created_at } of rows) {
      const input = JSON.parse(body) as Record<string, unknown>
      yield { kind: "waiting" as const, conversationId: id, number, input, createdAt: toTime(created_at) }
    }
    if (rows.length === 0) return
    after = rows.at(-1)?.number ?? after
  }
}

interface Rows {
  readonly table: string
  readonly where: string
  readonly columns: readonly string[]
  readonly place: readonly string[]
  readonly user: UserId
}

/** The rows of a table, ordered by `place`. */
async function* rowsOf(engine: Engine, { table, where, columns, place, user }: Rows): AsyncGenerator<ExportLine> {
  const order = place.join(", ")
  // Selected under names of their own, because `columns` may not contain them.
  const selected = [...columns, ...place.map((column, at) => `${column} AS ${PLACE}${at}`)].join(", ")
  for (let last: readonly unknown[] = []; ;) {
    const after = last.length === 0 ? "" : ` AND (${order}) > (${place.map(() => "?").join(", ")})`
    const fromSql = `FROM ${table} WHERE ${where}${after} ORDER BY ${order} LIMIT ?`
    const sizes = `SELECT ${bytesOf(engine, columns)} AS bytes ${fromSql}`
    const found = await engine.query<{ bytes: number }>(sizes, [user, ...last, PAGE])
    const limit = fittingRows(found, MAX_LIST_READ_BYTES).length
    if (limit === 0) return
    const rows = await engine.query<Record<string, unknown>>(`SELECT ${selected} ${fromSql}`, [user, ...last, limit])
    for (const row of rows) yield { kind: table, ...toCamelCase(row) }
    if (found.length < PAGE && rows.length === found.length) return
    const end = rows.at(-1)
    if (end) last = place.map((_, at) => end[`${PLACE}${at}`])
  }
}

const PLACE = "paged_by_"

/** After each file its bytes, one line per part. */
async function* withBytes(
  messageFiles: SqlMessageFiles,
  files: AsyncIterable<ExportLine>,
  user: UserId,
): AsyncGenerator<ExportLine> {
  for await (const file of files) {
    yield file
    if (!file.hash) continue // still being uploaded
    let number = 0
    try {
      for await (const bytes of messageFiles.read(user, file.id as FileId))
        yield {
          kind: "message_file_part",
          file: file.id,
          number: number++,
          base64: Buffer.from(bytes).toString("base64"),
        }
    } catch (error) {
      if (!hasCode(error, "file_unreadable")) throw error
      // A lost file does not end the export.
      yield { kind: "message_file_unreadable", file: file.id, problem: (error as Error).message }
    }
  }
}

async function* pages<Item>(
  list: (page: { cursor?: string; limit: number }) => Promise<{ items: Item[]; nextCursor: string | null }>,
): AsyncGenerator<Item> {
  let cursor: string | null = null
  do {
    const page: { items: Item[]; nextCursor: string | null } = await list({
      ...(cursor ? { cursor } : {}),
      limit: PAGE,
    })
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== null)
}

const toCamelCase = (row: object) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name.startsWith(PLACE) ? [] : [[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]],
    ),
  )
