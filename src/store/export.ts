import type { ExportLine } from "../protocol/account/export.ts"
import { hasCode } from "../protocol/errors.ts"
import type { ConversationId, FileId, UserId } from "../protocol/ids.ts"
import type { SqlAudit } from "./journal/audit.ts"
import type { SqlMessageFiles } from "./files/message-files.ts"
import type { SqlConversations } from "./journal/conversations.ts"
import type { Engine } from "./engine/engine.ts"
import type { SqlJournal } from "./journal/journal.ts"
import { readPackTables } from "./packs/register.ts"
import { personalTables, type PersonalTable } from "./personal-tables.ts"
import type { SqlProposals } from "./journal/proposals.ts"
import { toTime } from "./engine/row-values.ts"

/** Rows held in memory at a time, however large the export is. */
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
 * Everything of a person, line by line and page by page. Not one moment's picture: what changes meanwhile is shown as it
 * is when it is read, and a conversation that is deleted meanwhile ends early.
 */
export async function* exportOf(source: ExportSource, user: UserId): AsyncGenerator<ExportLine> {
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
  for (const { table, column, names, exported, place = "id" } of tables) {
    if (typeof exported === "string") continue
    const whose = names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"
    const rows = rowsOf(source.engine, { table, where: `${column} = ${whose}`, columns: exported, place, user })
    yield* table === "message_file" ? withBytes(source.messageFiles, rows, user) : rows
  }
}

async function* ofConversation({ engine, journal, conversations }: ExportSource, id: ConversationId) {
  try {
    for await (const run of pages((page) => conversations.runs(id, page))) yield { kind: "run" as const, ...run }
    for (let after = 0; ;) {
      const events = await journal.read(id, { after, limit: PAGE })
      for (const event of events) yield { kind: "event" as const, conversationId: id, ...event }
      if (events.length < PAGE) break
      after = events.at(-1)?.position ?? after
    }
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error // deleted while we read
  }
  const sql = `SELECT number, body, created_at FROM inbox WHERE conversation = (SELECT key FROM conversation WHERE id = ?)
    AND number > ? ORDER BY number LIMIT ?`
  for (let after = 0; ;) {
    const rows = await engine.query<{ number: number; body: string; created_at: number }>(sql, [id, after, PAGE])
    for (const { number, body, created_at } of rows) {
      const input = JSON.parse(body) as Record<string, unknown>
      yield { kind: "waiting" as const, conversationId: id, number, input, createdAt: toTime(created_at) }
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.number ?? after
  }
}

interface Rows {
  readonly table: string
  readonly where: string
  readonly columns: readonly string[]
  readonly place: string
  readonly user: UserId
}

/** The rows of a table, as they are, in the order of their places. */
async function* rowsOf(engine: Engine, { table, where, columns, place, user }: Rows): AsyncGenerator<ExportLine> {
  // The place is asked for beside what is shown: a table that does not show its id would never get past its first page.
  const sql = `SELECT ${columns.join(", ")}, ${place} AS place FROM ${table}
    WHERE ${where} AND ${place} > ? ORDER BY ${place} LIMIT ?`
  for (let last = ""; ;) {
    const rows = await engine.query<{ place: string }>(sql, [user, last, PAGE])
    for (const { place: _, ...row } of rows) yield { kind: table, ...toCamelCase(row) }
    if (rows.length < PAGE) return
    last = rows.at(-1)?.place ?? last
  }
}

/** Behind each file its bytes, a line for each part: an export is all that a person has. */
async function* withBytes(
  kept: SqlMessageFiles,
  files: AsyncIterable<ExportLine>,
  user: UserId,
): AsyncGenerator<ExportLine> {
  for await (const file of files) {
    yield file
    if (!file.hash) continue // still being uploaded
    let number = 0
    try {
      for await (const bytes of kept.read(user, file.id as FileId))
        yield {
          kind: "message_file_part",
          file: file.id,
          number: number++,
          base64: Buffer.from(bytes).toString("base64"),
        }
    } catch (error) {
      if (!hasCode(error, "file_unreadable")) throw error
      // All the rest is there: one file that is lost is told in its place.
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
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
