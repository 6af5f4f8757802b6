import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import type { Applied, IdsByTable, WorkspaceWrite } from "../protocol/ports/workspace.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { findHanging, findRow, findRows } from "../workspace/find-rows.ts"
import { readTable, type Row, type Rows } from "../workspace/known-tables.ts"
import type { Layout, TableQuery } from "../workspace/layout.ts"
import { goneNotes, planWrite } from "../workspace/plan-write.ts"
import { readId, readRestoredRows, readUpdates } from "../workspace/read-input.ts"
import { runSteps, type Steps } from "../workspace/steps.ts"
import { inTransaction } from "./open-database.ts"

export type { Row } from "../workspace/known-tables.ts"
/** Rows by the table they are of. */
export type LocalRows = Rows

const quoted = (name: string) => `"${name}"`
const layout: Layout = { table: quoted, column: quoted, tie: "rowid" }

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
    return this.#run(findRows(layout, name, given))
  }

  get(name: string, id: string): Row | null {
    return this.#run(findRow(layout, name, id)) ?? null
  }

  /** What would go, or refuse to go, with a row. */
  hanging(name: string, id: string): LocalRows {
    return this.#run(findHanging(layout, readTable(name).name, readId(id)))
  }

  /** The row as it is stored, with the id and the times it was given here. */
  insert(name: string, given: unknown): Row {
    const { after } = this.#write({ action: "insert", table: tableOf(name), data: given as Row })
    return after as unknown as Row
  }

  /** Changes some columns; with `expect` only while the row still holds what that says. */
  update(name: string, given: unknown): Row {
    return this.change(name, given).row
  }

  /** The same, with the row as it was. */
  change(name: string, given: unknown): { readonly row: Row; readonly before: Row } {
    const { id, updates, expect } = readUpdates(readTable(name), given)
    const { before, after } = this.#write({ action: "update", table: tableOf(name), id, updates, expect })
    return { row: after as unknown as Row, before: before as unknown as Row }
  }

  /**
   * Takes a row out with everything that hangs on it, and gives both back; undefined where there is none. Only while the row
   * holds what is expected and, where `along` says what was shown to hang on it, just that does.
   */
  delete(
    name: string,
    id: string,
    expect: Readonly<Record<string, unknown>> = {},
    along?: IdsByTable,
  ): { readonly row: Row; readonly with: LocalRows } | undefined {
    return inTransaction(this.#db, () => {
      if (!this.get(name, id)) return undefined
      const gone = this.#write({ action: "delete", table: tableOf(name), id, expect, ...(along ? { along } : {}) })
      return { row: gone.before as unknown as Row, with: gone.with as unknown as LocalRows }
    })
  }

  /** Puts rows back as they were, with what went with them. Refused where one of their ids is there already. */
  restore(name: string, given: unknown): Row[] {
    const { rows, with: others } = readRestoredRows(readTable(name), given)
    const write = { action: "restore", table: tableOf(name), rows, with: others }
    if (rows.length > 0) this.#write(write as unknown as WorkspaceWrite)
    return rows
  }

  #write(write: WorkspaceWrite): Applied {
    return inTransaction(this.#db, () => {
      const { applied, statements } = this.#run(planWrite({ layout, now: this.#now() }, write))
      for (const { sql, values } of statements) this.#prepare(sql).run(...(values as SQLInputValue[]))
      // In the same transaction: what is gone must not be found by its meaning.
      for (const id of goneNotes(applied)) this.#prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(id)
      return applied
    })
  }

  #run<T>(steps: Steps<T>): T {
    return runSteps(steps, ({ sql, values }: TableQuery) =>
      this.#prepare(sql)
        .all(...(values as SQLInputValue[]))
        .map((row) => ({ ...row }) as Row),
    )
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql)
    if (!statement) this.#prepared.set(sql, (statement = this.#db.prepare(sql)))
    return statement
  }
}

const tableOf = (name: string): TableName => readTable(name).name
