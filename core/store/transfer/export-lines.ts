import { failure, hasCode } from "../../protocol/errors.ts"
import type { ConversationId, FileId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { MAX_LIST_READ_BYTES } from "../engine/page-bytes.ts"
import type { SqlMessageFiles } from "../files/message-files.ts"
import type { SqlJournal } from "../journal/journal.ts"
import { FILE_PART, type MovedTable, movedTables, readMovedPackTables } from "./moved-tables.ts"

/** The version of the lines. A file of another version is refused. */
export const FORMAT = 1

export interface TransferSource {
  readonly engine: Engine
  readonly journal: SqlJournal
  readonly messageFiles: SqlMessageFiles
  /** The database created from an upload, in portions, for the connection with this id; undefined if there is none. */
  readUpload(user: UserId, connection: string): Promise<AsyncIterable<Uint8Array> | undefined>
}

/** Counts what an export omits. */
export interface ExportOmissions {
  /** Conversations with a run in progress, or with input that no server has read. An import cancels the run. */
  working: number
  /** Attachments whose bytes are lost or damaged. */
  unreadable: number
}

/**
 * The lines of an export: of one person, or of a whole server. The first line says which format it is, the last one counts
 * the others. Rows are read in pages, so the memory that it takes does not depend on how much there is.
 */
export async function* exportLines(
  source: TransferSource,
  { user, left }: { readonly user?: UserId | undefined; readonly left: ExportOmissions },
): AsyncGenerator<string> {
  let lines = 0
  const toLine = (value: object) => (lines++, JSON.stringify(value))
  const { engine } = source
  const tables = [...movedTables, ...(await readMovedPackTables(engine))]
  const columns = "id, name, called, created_at, chosen_model, page_model, terminal_model"
  // An erased person has a name that ends with a space for a day.
  const all = `SELECT key, ${columns} FROM person WHERE name NOT LIKE '% '`
  const people = await engine.query<{ key: number; id: UserId }>(
    `${all}${user ? " AND id = ?" : ""} ORDER BY key`,
    user ? [user] : [],
  )
  if (user && people.length === 0) throw failure("not_found")
  yield toLine({ pawl: "export", format: FORMAT, people: people.length })
  for (const { key, ...person } of people) {
    yield toLine({ person })
    for await (const line of conversationLines(source, { key, left })) yield toLine(line)
    for (const table of tables) {
      for await (const line of rowLines(source, { table, user: person.id, key, left })) yield toLine(line)
    }
  }
  yield JSON.stringify({ end: lines })
}

interface ConversationRow {
  readonly id: ConversationId
  readonly created_at: number
  readonly updated_at: number
  readonly status: string
  readonly waiting: boolean | number
}

async function* conversationLines(
  { engine, journal }: TransferSource,
  { key, left }: { readonly key: number; readonly left: ExportOmissions },
): AsyncGenerator<object> {
  const sql = `SELECT id, created_at, updated_at, status, arrivals <> seen AS waiting FROM conversation
    WHERE person = ? ORDER BY key`
  for (const { id, created_at, updated_at, status, waiting } of await engine.query<ConversationRow>(sql, [key])) {
    if (waiting || status === "running" || status === "awaiting_confirmation") left.working++
    yield { conversation: { id, created_at, updated_at } }
    for (let [after, limit] = [0, 1]; ;) {
      const page = await journal.readPage(id, { after, limit, maxLength: MAX_LIST_READ_BYTES })
      for (const event of page.events) yield { event }
      if (page.found < limit && page.events.length === page.found) break
      after = page.events.at(-1)?.position ?? after
      limit = Math.max(1, Math.min(200, 2 * limit, Math.floor((page.found * MAX_LIST_READ_BYTES) / (page.length + 1))))
    }
  }
}

interface RowsOf {
  readonly table: MovedTable
  readonly user: UserId
  /** The key of the person. */
  readonly key: number
  readonly left: ExportOmissions
}

/** Rows held in memory at a time: each may have a text of megabytes. */
const PAGE = 20

type Row = Record<string, unknown>

async function* rowLines(source: TransferSource, { table, user, key, left }: RowsOf): AsyncGenerator<object> {
  const { table: name, owner, names, key: columns, omitted = [], fixed = {}, only } = table
  const isOfConversation = names === "conversation key"
  const whose = isOfConversation ? `${owner} IN (SELECT key FROM conversation WHERE person = ?)` : `${owner} = ?`
  const values = [isOfConversation ? key : user, ...(only?.includes("?") ? [user] : [])]
  const where = `${whose}${only === undefined ? "" : ` AND ${only}`}`
  const order = columns.join(", ")
  const keys = await source.engine.query<Row>(`SELECT ${order} FROM ${name} WHERE ${where} ORDER BY ${order}`, values)
  for (let start = 0; start < keys.length; start += PAGE) {
    const page = keys.slice(start, start + PAGE)
    const each = `(${columns.map((column) => `${column} = ?`).join(" AND ")})`
    const rows = await source.engine.query<Row>(
      `SELECT * FROM ${name} WHERE (${page.map(() => each).join(" OR ")}) AND ${owner} ${isOfConversation ? "> 0" : "= ?"} ORDER BY ${order}`,
      [...page.flatMap((row) => columns.map((column) => row[column])), ...(isOfConversation ? [] : [user])],
    )
    for (const row of rows) {
      const moved = Object.entries(row).filter(([column]) => !omitted.includes(column) && !Object.hasOwn(fixed, column))
      if (isOfConversation) await nameConversation(source.engine, moved, owner)
      const line = { table: name, row: Object.fromEntries(moved.map(([column, value]) => [column, toJson(value)])) }
      if (name === "message_file") yield* fileLines(source, { line, user, id: row.id as FileId, left })
      else yield line
      if (name === "connection") yield* uploadLines(source, user, row.id as string)
    }
  }
}

const toJson = (value: unknown) =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value

/** Keys of conversations are valid only in their own database. */
async function nameConversation(engine: Engine, row: [string, unknown][], owner: string): Promise<void> {
  const cell = row.find(([column]) => column === owner)
  const sql = "SELECT id FROM conversation WHERE key = ?"
  if (cell) cell[1] = (await engine.query<{ id: string }>(sql, [cell[1]]))[0]?.id
}

interface FileOf {
  readonly line: object
  readonly user: UserId
  readonly id: FileId
  readonly left: ExportOmissions
}

/** A file and its bytes. A file whose bytes are lost or damaged is left out: an import checks them. */
async function* fileLines({ messageFiles }: TransferSource, { line, user, id, left }: FileOf): AsyncGenerator<object> {
  const parts: Uint8Array[] = []
  try {
    for await (const bytes of messageFiles.read(user, id)) parts.push(bytes)
  } catch (error) {
    if (!hasCode(error, "file_unreadable")) throw error
    left.unreadable++
    return
  }
  yield line
  for (const [number, bytes] of parts.entries())
    yield { table: FILE_PART, row: { file: id, number, bytes: toJson(bytes) } }
}

async function* uploadLines(source: TransferSource, user: UserId, connection: string): AsyncGenerator<object> {
  const parts = await source.readUpload(user, connection)
  if (!parts) return
  let number = 0
  for await (const bytes of parts) yield { upload: { connection, number: number++, bytes: toJson(bytes) } }
  yield { upload: { connection, number, end: true } }
}
