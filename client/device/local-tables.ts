import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import type { Applied, IdsByTable, WorkspaceWrite } from "../../core/protocol/workspace.ts"
import type { TableName } from "../../core/protocol/workspace-tables.ts"
import { findRelatedRows, findRow, findRows } from "../../core/workspace/find-rows.ts"
import { readTable, type Row, type Rows } from "../../core/workspace/known-tables.ts"
import type { Layout, TableQuery } from "../../core/workspace/layout.ts"
import { deletedNotes, planWrite } from "../../core/workspace/plan-write.ts"
import { readId, readRestoredRows, readUpdates } from "../../core/workspace/read-input.ts"
import { runSteps, type Steps } from "../../core/workspace/steps.ts"
import { inTransaction } from "./open-database.ts"

export type { Row } from "../../core/workspace/known-tables.ts"
/** Rows of the device's workspace, by table. */
export type LocalRows = Rows

const quoted = (name: string) => `"${name}"`
const layout: Layout = { table: quoted, column: quoted, tie: "rowid" }

/**
 * The workspace tables in the device's SQLite file. Names of tables and columns come from the specification, never
 * from a caller; invalid data is rejected with a sentence. Each method is one transaction.
 */
export class LocalTables {
  readonly #db: DatabaseSync
  readonly #now: () => number
  readonly #prepared = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db
    this.#now = now
  }

  select(name: string, filters: unknown = {}): Row[] {
    return this.#run(findRows(layout, name, filters))
  }

  get(name: string, id: string): Row | null {
    return this.#run(findRow(layout, name, id)) ?? null
  }

  /** Returns the rows that would be deleted with a row, or that prevent its deletion. */
  hanging(name: string, id: string): LocalRows {
    return this.#run(findRelatedRows(layout, readTable(name).name, readId(id)))
  }

  /** Inserts a row. Returns it as stored, with its id and times. */
  insert(name: string, data: unknown): Row {
    const { after } = this.#write({ action: "insert", table: tableOf(name), data: data as Row })
    return after as unknown as Row
  }

  /** Changes some columns and returns the row. With `expect`, only if the row still has those values. */
  update(name: string, data: unknown): Row {
    return this.change(name, data).row
  }

  /** Changes some columns, and returns the row before and after. */
  change(name: string, data: unknown): { readonly row: Row; readonly before: Row } {
    const { id, updates, expect } = readUpdates(readTable(name), data)
    const { before, after } = this.#write({ action: "update", table: tableOf(name), id, updates, expect })
    return { row: after as unknown as Row, before: before as unknown as Row }
  }

  /**
   * Deletes a row with all rows that depend on it, and returns them; undefined if it does not exist. Only if the row
   * still has the expected values and, with `along`, only those rows depend on it.
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

  /** Restores rows, with those that were deleted with them. Rejected if one of the ids exists. */
  restore(name: string, data: unknown): Row[] {
    const { rows, with: others } = readRestoredRows(readTable(name), data)
    const write = { action: "restore", table: tableOf(name), rows, with: others }
    if (rows.length > 0) this.#write(write as unknown as WorkspaceWrite)
    return rows
  }

  #write(write: WorkspaceWrite): Applied {
    return inTransaction(this.#db, () => {
      const { applied, statements } = this.#run(planWrite({ layout, now: this.#now() }, write))
      for (const { sql, values } of statements) this.#prepare(sql).run(...(values as SQLInputValue[]))
      // In the same transaction, so that search does not find a deleted note.
      for (const id of deletedNotes(applied)) this.#prepare(`DELETE FROM "pawlVector" WHERE id = ?`).run(id)
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
