import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { failure } from "../protocol/errors.ts"
import { newId } from "../protocol/ids.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { inTransaction } from "./open-database.ts"
import { compareBy } from "./order-rows.ts"
import { readFilters, readId, readNewRow, readRows, readTable, readUpdates } from "./read-input.ts"

export type Row = Readonly<Record<string, string | number | null>>
/** Rows by the table they are of. */
export type RowsByTable = Readonly<Partial<Record<TableName, readonly Row[]>>>

/**
 * The six tables of a workspace in the device's own file. Names of tables and columns come from their specification and
 * never from a caller; what does not fit is refused with a sentence. Each method is all or nothing.
 */
export class LocalTables {
  readonly #db: DatabaseSync
  readonly #now: () => number
  readonly #prepared = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db
    this.#now = now
  }

  select(name: string, given: unknown = {}): Row[] {
    const table = readTable(name)
    const filters = readFilters(table, given)
    const conditions = table.equals.map((column) => ({ sql: `"${column}" = ?`, value: filters[column] }))
    if (table.due) {
      conditions.push({ sql: `"${table.due}" >= ?`, value: filters.dueDateFrom })
      conditions.push({ sql: `"${table.due}" <= ?`, value: filters.dueDateTo })
    }
    const { hides } = table
    if (hides && !filters.includeArchived && filters[hides.column] == null) {
      conditions.push({ sql: `"${hides.column}" <> ?`, value: hides.value })
    }
    const asked = conditions.filter(({ value }) => value !== undefined && value !== null)
    const where = ["1", ...asked.map(({ sql }) => sql)].join(" AND ")
    const sql = `SELECT ${table.columns} FROM "${table.name}" WHERE ${where} ORDER BY "createdAt", rowid`
    const rows = this.#all(sql, ...asked.map(({ value }) => value as string | number))
    // Here and not in SQL: SQLite knows the capital letters of English only, and no order of words.
    const search = filters.search?.trim().toLowerCase()
    const found = search ? rows.filter((row) => mentions(row, table.searched, search)) : rows
    return filters.orderBy ? found.sort(compareBy(filters.orderBy)) : found
  }

  get(name: string, id: string): Row | null {
    const table = readTable(name)
    return this.#all(`SELECT ${table.columns} FROM "${table.name}" WHERE id = ?`, readId(id))[0] ?? null
  }

  /** The row as it is stored, with the id and the times it was given here. */
  insert(name: string, given: unknown): Row {
    const table = readTable(name)
    const now = this.#now()
    const made = { id: newId(table.prefix, now), createdAt: now, updatedAt: now }
    const said = readNewRow(table, given)
    const row = Object.fromEntries(
      Object.keys(table.row.shape).map((column) => [
        column,
        table.made.includes(column) ? made[column as keyof typeof made] : said[column],
      ]),
    ) as Row
    return inTransaction(this.#db, () => {
      this.#requireReferences(table.name, said)
      return this.#put(table.name, row)
    })
  }

  /** Changes some columns; with `expect` only while the row still holds what that says. */
  update(name: string, given: unknown): Row {
    const table = readTable(name)
    const { id, updates, expect } = readUpdates(table, given)
    const touched = table.made.includes("updatedAt") ? { ...updates, updatedAt: this.#now() } : updates
    return inTransaction(this.#db, () => {
      const row = this.get(table.name, id)
      if (!row) throw missing(table.noun, id)
      this.#requireFresh(row, expect, table.noun)
      this.#requireReferences(table.name, updates)
      const columns = Object.keys(touched)
      if (columns.length > 0) {
        const set = columns.map((column) => `"${column}" = ?`).join(", ")
        this.#prepare(`UPDATE "${table.name}" SET ${set} WHERE id = ?`).run(...Object.values(touched), id)
      }
      return { ...row, ...touched }
    })
  }

  /** Takes a row out with everything that hangs on it, and gives both back; undefined where there is none. */
  delete(name: string, id: string): { readonly row: Row; readonly with: RowsByTable } | undefined {
    const table = readTable(name)
    return inTransaction(this.#db, () => {
      const row = this.get(table.name, id)
      if (!row) return undefined
      const gone = new Map<TableName, Row[]>()
      this.#takeHanging(table.name, row, gone)
      this.#remove(table.name, id)
      return { row, with: Object.fromEntries(gone) }
    })
  }

  /** Puts rows back as they were, with what went with them. Refused where one of their ids is there already. */
  restore(name: string, given: unknown): Row[] {
    const table = readTable(name)
    const { rows, with: others } = readRows(table, given)
    return inTransaction(this.#db, () => {
      const all: [TableName, readonly Row[]][] = [[table.name, rows], ...(Object.entries(others) as typeof all)]
      for (const [into, theirs] of all) {
        for (const row of theirs) {
          const id = String(row.id)
          if (this.get(into, id)) throw refuse(`${id} is there already, so it cannot be put back.`)
          this.#put(into, row)
        }
      }
      // At the end, because a row may come back in the same breath as the one it belongs to.
      for (const [into, theirs] of all) for (const row of theirs) this.#requireReferences(into, row)
      return [...rows]
    })
  }

  #takeHanging(name: TableName, row: Row, gone: Map<TableName, Row[]>): void {
    const { noun, referredBy } = readTable(name)
    for (const { table, column, whenGone } of referredBy) {
      const { columns, noun: other } = readTable(table)
      const rows = this.#all(`SELECT ${columns} FROM "${table}" WHERE "${column}" = ? ORDER BY rowid`, row.id!)
      if (rows.length > 0 && whenGone === "refuses") {
        throw refuse(`The ${noun} ${row.id} still has ${rows.length} ${other}(s): move or delete them first.`)
      }
      for (const hanging of rows) {
        this.#takeHanging(table, hanging, gone)
        this.#remove(table, String(hanging.id))
        gone.set(table, [...(gone.get(table) ?? []), hanging])
      }
    }
  }

  #remove(name: TableName, id: string): void {
    this.#prepare(`DELETE FROM "${name}" WHERE id = ?`).run(id)
    // In the same transaction: what is gone must not be found by its meaning.
    if (name === "notes") this.#prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(id)
  }

  #put(name: TableName, row: Row): Row {
    const columns = Object.keys(row)
    const names = columns.map((column) => `"${column}"`).join(", ")
    const marks = columns.map(() => "?").join(", ")
    this.#prepare(`INSERT INTO "${name}" (${names}) VALUES (${marks})`).run(...Object.values(row))
    return row
  }

  #requireReferences(name: TableName, row: Row): void {
    for (const [column, { table }] of Object.entries(readTable(name).references)) {
      const id = row[column]
      if (id == null || this.get(table, String(id))) continue
      throw missing(readTable(table).noun, String(id))
    }
  }

  #requireFresh(row: Row, expect: Row, noun: string): void {
    const changed = Object.keys(expect).filter((column) => row[column] !== expect[column])
    if (changed.length === 0) return
    throw failure("row_stale", { noun, id: String(row.id), columns: changed.join(", ") })
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql)
      .all(...values)
      .map((row) => ({ ...row }) as Row)
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql)
    if (!statement) this.#prepared.set(sql, (statement = this.#db.prepare(sql)))
    return statement
  }
}

const refuse = (problem: string) => failure("bad_request", { problem })
const missing = (noun: string, id: string) => refuse(`There is no ${noun} ${id}.`)

function mentions(row: Row, columns: readonly string[], search: string): boolean {
  const text = columns.map((column) => row[column] ?? "").join("\n")
  return text.toLowerCase().includes(search)
}
