import { constants } from "node:sqlite"
import type { DatabaseChange } from "../database/kind.ts"
import { authorize } from "./rules.ts"

/** Collects what SQLite reports while it compiles a statement: the table that it changes, and the triggers that run. */
export class SqliteWrites {
  verb: DatabaseChange["verb"] | undefined
  table: string | undefined
  readonly columns = new Set<string>()
  readonly triggers = new Set<string>()
  /** The columns of the table that triggers set. */
  readonly stamped = new Set<string>()
  /** The tables that triggers write to. */
  readonly #written = new Set<string>()
  /** Other tables that foreign keys of the statement reach. */
  readonly #reached = new Set<string>()
  readonly #watcher: string | undefined

  /** `watcher`: a trigger of ours, which only notes rows. */
  constructor(watcher?: string) {
    this.#watcher = watcher
  }

  /** Allows what reads, as ever, and changes of rows in the tables of the one file. */
  readonly authorize = (action: number, ...about: (string | null)[]): number => {
    const [first = null, second = null, database, trigger = null] = about
    const verb = VERBS[action]
    if (this.#watcher !== undefined && trigger === this.#watcher) return constants.SQLITE_OK
    if (!verb) return authorize(action, first, second)
    if (database !== "main" || first === null || /^sqlite_/i.test(first)) return constants.SQLITE_DENY
    if (trigger !== null) {
      this.triggers.add(trigger)
      this.#written.add(first)
      if (verb === "UPDATE" && first === this.table && second !== null) this.stamped.add(second)
    } else {
      // The first is the statement itself. What foreign keys do with other tables comes after it, without a trigger's
      // name; and an INSERT that updates where there is one already is an INSERT all the same.
      this.verb ??= verb
      this.table ??= first
      if (first !== this.table) this.#reached.add(first)
      else if (verb === "UPDATE" && second !== null) this.columns.add(second)
    }
    return constants.SQLITE_OK
  }

  /** Whether rows that are there get other numbers, and so cannot be found as they were. */
  renumbers(columns: readonly { readonly name: string; readonly pk: number }[]): boolean {
    return this.columns.has("ROWID") || columns.some(({ name, pk }) => pk > 0 && this.columns.has(name))
  }

  /** Whether the statement, or a trigger, sets this column in rows that are there. */
  sets(column: string): boolean {
    return this.columns.has(column) || this.stamped.has(column)
  }

  /** The other tables that only foreign keys change. Rows that triggers change cannot be counted. */
  reachedByKeys(): string[] {
    return [...this.#reached].filter((table) => !this.#written.has(table))
  }

  /** Whether triggers write to the very table, too. */
  triggersWriteToo(): boolean {
    return this.table !== undefined && this.#written.has(this.table)
  }
}

const VERBS: Readonly<Record<number, DatabaseChange["verb"]>> = {
  [constants.SQLITE_INSERT]: "INSERT",
  [constants.SQLITE_UPDATE]: "UPDATE",
  [constants.SQLITE_DELETE]: "DELETE",
}
