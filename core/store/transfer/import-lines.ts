import { hasCode } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Commit, Statement } from "../engine/operations.ts"
import { toCommit } from "../journal/to-commit.ts"
import type { ThisNode } from "../journal/nodes.ts"
import type { Secrets } from "../people/secrets.ts"
import {
  checkLines,
  type ImportedConversation,
  type ImportedRow,
  splitLines,
  type PersonLine,
  TransferError,
  type TransferItem,
  type TransferTables,
  type UploadPart,
} from "./check-lines.ts"
import { FILE_PART, type MovedTable, movedTables, readColumns, readMovedPackTables } from "./moved-tables.ts"

export interface TransferTarget {
  readonly engine: Engine
  readonly node: ThisNode
  readonly secrets: Secrets
  readonly now: () => number
  /** Stores a part of a database that was created from an upload. */
  writeUpload(user: UserId, upload: UploadPart): Promise<void>
}

/** The result of an import. It includes what an interrupted import had already added. */
export interface Imported {
  people: number
  conversations: number
  rows: number
  /** Secrets that another master key has encrypted, and what belongs to them, by table. */
  readonly leftOut: Map<string, number>
}

/**
 * Imports the file of an export. `open` reads it from the start: it is read twice, and nothing is imported if a line does not
 * fit. Ids stay. A row or a conversation that is there is left as it is, so an import that was interrupted can be run again.
 * Throws a `TransferError` for a line that does not fit, or that conflicts with something of someone else.
 */
export async function importLines(target: TransferTarget, open: () => AsyncIterable<Uint8Array>): Promise<Imported> {
  const tables = await readTables(target.engine)
  const check = () => checkLines(splitLines(open()), { tables, now: target.now() })
  for await (const _ of check());
  const imported: Imported = { people: 0, conversations: 0, rows: 0, leftOut: new Map() }
  const rows = new RowBatch(target.engine)
  const users: UserId[] = []
  for await (const item of check()) {
    if (item.type === "person") users.push(item.person.id as UserId)
    if (item.type !== "row" && item.type !== "file part") await rows.write()
    await importItem(target, item, { imported, rows })
  }
  await rows.write()
  // The sums of days that a server has added up without the imported rows are made again from all of them.
  for (const user of users) {
    const sums = ["usage_day", "usage_summed"].map((table) => `DELETE FROM ${table} WHERE person = ?`)
    const statements = sums.map((sql) => ({ sql, values: [user] }))
    await target.engine.change({ type: "statements", statements })
  }
  return imported
}

async function readTables(engine: Engine): Promise<TransferTables> {
  const all = [...movedTables, ...(await readMovedPackTables(engine))]
  const tables = new Map<string, { table: MovedTable; columns: Awaited<ReturnType<typeof readColumns>> }>()
  for (const table of all) tables.set(table.table, { table, columns: await readColumns(engine, table) })
  return { tables, isOfPack: (name) => /^pack_\w{1,200}$/.test(name) }
}

interface Importing {
  readonly imported: Imported
  readonly rows: RowBatch
}

async function importItem(target: TransferTarget, item: TransferItem, { imported, rows }: Importing): Promise<void> {
  switch (item.type) {
    case "person":
      await importPerson(target.engine, item.person, item.line)
      imported.people++
      return
    case "conversation":
      await importConversation(target, item, item.line)
      imported.conversations++
      return
    case "upload":
      await target.writeUpload(item.user, item.upload)
      return
    case "file part":
      return rows.add(item.line, PARTS, new Map([...item.row, ["person", item.user]]))
    case "row": {
      const { table, row, user, line } = item
      if (table.within) await rows.write() // the row that it names may be among them
      const isFit = table.sealed
        ? await canOpen(target.secrets, { table: table.table, user, row })
        : await isWithin(target.engine, { table, user, row })
      if (!isFit) {
        imported.leftOut.set(table.table, (imported.leftOut.get(table.table) ?? 0) + 1)
        return
      }
      imported.rows++
      return rows.add(line, table, new Map([...row, ...Object.entries(table.fixed ?? {})]))
    }
  }
}

async function isWithin(
  engine: Engine,
  { table: { within }, user, row }: { readonly table: MovedTable; readonly user: UserId; readonly row: ImportedRow },
): Promise<boolean> {
  if (!within) return true
  const sql = `SELECT 1 FROM ${within.table} WHERE id = ? AND person = ?`
  return (await engine.query(sql, [row.get(within.column), user])).length > 0
}

const PARTS: MovedTable = { table: FILE_PART, owner: "person", names: "person id", key: ["file", "number"] }

/** The row of a person. Their name may not belong to someone else here. */
async function importPerson(engine: Engine, person: PersonLine, line: number): Promise<void> {
  const { id, name, called, created_at, chosen_model, page_model, terminal_model } = person
  const sql = `INSERT INTO person (id, name, called, created_at, chosen_model, page_model, terminal_model)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
  const values = [id, name, called, created_at, chosen_model, page_model, terminal_model]
  await engine.change({ type: "statements", statements: [{ sql, values }] })
  const found = await engine.query("SELECT 1 FROM person WHERE id = ? AND name = ?", [id, name])
  if (found.length > 0) return
  throw new TransferError(
    line,
    `${called ?? name} (${id}) cannot be imported: another person has this name or id here. Import into a new database.`,
  )
}

/** The whole journal with its rows, in one transaction. */
async function importConversation(
  { engine, node }: TransferTarget,
  imported: ImportedConversation,
  line: number,
): Promise<void> {
  const { conversation, events, proposals, audits, createdAt, updatedAt, user } = imported
  const [person] = await engine.query<{ key: number }>("SELECT key FROM person WHERE id = ?", [user])
  if (!person) throw new TransferError(line, `the person ${user} was erased during the import.`)
  const isThere = await engine.query("SELECT 1 FROM conversation WHERE id = ?", [conversation.id])
  if (isThere.length === 0) {
    const born = { id: conversation.id, person: person.key }
    const commit = toCommit(conversation, events, {
      ...{ lease: "create", node: node.id, now: updatedAt, release: true, born },
    })
    const whole = { ...commit, proposals, audits }
    await refuseTaken(engine, whole, line)
    await engine.change(whole)
  }
  // Also if it was there: the process may have ended between the two.
  const sql = "UPDATE conversation SET created_at = ? WHERE id = ? AND person = ?"
  const statements = [{ sql, values: [createdAt, conversation.id, person.key], mustChange: true }]
  const { ok } = await engine.change({ type: "statements", statements })
  if (!ok) throw new TransferError(line, `another person has the conversation ${conversation.id} here.`)
}

/** A commit updates the rows of runs and proposals that it finds by their ids. Those of other conversations must not change. */
async function refuseTaken(engine: Engine, { runs, proposals, audits }: Commit, line: number): Promise<void> {
  for (const [table, rows] of [
    ["run", runs],
    ["proposal", proposals],
    ["audit_entry", audits],
  ] as const)
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const ids = rows.slice(start, start + ROWS_AT_ONCE).map(([id]) => id)
      const sql = `SELECT id FROM ${table} WHERE id IN (${ids.map(() => "?").join(", ")}) LIMIT 1`
      const [taken] = await engine.query<{ id: string }>(sql, ids)
      if (taken) throw new TransferError(line, `another conversation has ${taken.id} here.`)
    }
}

/** Whether this server has the master key of a secret, and the secret was encrypted for this row. */
async function canOpen(
  secrets: Secrets,
  { table, user, row }: { readonly table: string; readonly user: UserId; readonly row: ImportedRow },
): Promise<boolean> {
  const place = { table, id: String(row.get("id")), person: user }
  try {
    await secrets.open(place, { keyId: String(row.get("key_id")), sealed: String(row.get("sealed")) })
    return true
  } catch (error) {
    if (!hasCode(error, "secret_unreadable")) throw error
    return false
  }
}

interface PendingRow {
  readonly line: number
  readonly table: MovedTable
  readonly row: ImportedRow
}

const ROWS_AT_ONCE = 200
const BYTES_AT_ONCE = 4 * 1024 * 1024

/** Inserts rows, many in a transaction. */
class RowBatch {
  readonly #engine: Engine
  #pending: PendingRow[] = []
  #bytes = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async add(line: number, table: MovedTable, row: ImportedRow): Promise<void> {
    this.#pending.push({ line, table, row })
    for (const value of row.values()) this.#bytes += typeof value === "number" ? 8 : (value?.length ?? 0)
    if (this.#pending.length >= ROWS_AT_ONCE || this.#bytes >= BYTES_AT_ONCE) await this.write()
  }

  async write(): Promise<void> {
    const pending = this.#pending
    ;[this.#pending, this.#bytes] = [[], 0]
    if (pending.length === 0) return
    const outcome = await this.#engine.change({
      type: "statements",
      statements: pending.map(toInsert),
      patience: "long",
    })
    const inserted = outcome.ok ? outcome.rows : []
    for (const [index, each] of pending.entries())
      if ((inserted[index]?.length ?? 0) === 0) await this.#demandSame(each)
  }

  /** A row that was not inserted has to be there already, and belong to the same person. */
  async #demandSame({ line, table: { table, key, owner, names }, row }: PendingRow): Promise<void> {
    const columns = [...new Set([...key, owner])]
    const conditions = columns.map((column) => `${column} = ${valueOf(names, column === owner)}`)
    const values = columns.map((column) => row.get(column))
    const found = await this.#engine.query(`SELECT 1 FROM ${table} WHERE ${conditions.join(" AND ")}`, values)
    if (found.length > 0) return
    throw new TransferError(
      line,
      `another row of ${table} has the same name or id here. Import into a new database, or delete that one first.`,
    )
  }
}

const valueOf = (names: MovedTable["names"], isOwner: boolean): string =>
  isOwner && names === "conversation key" ? "(SELECT key FROM conversation WHERE id = ?)" : "?"

function toInsert({ table: { table, owner, names }, row }: PendingRow): Statement {
  const columns = [...row.keys()]
  const marks = columns.map((column) => valueOf(names, column === owner)).join(", ")
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks}) ON CONFLICT DO NOTHING RETURNING 1 AS one`
  return { sql, values: [...row.values()] }
}
