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
  /** Other tables that the statement changes through foreign keys. */
  readonly #reached = new Set<string>()
  readonly #watcher: string | undefined

  /** `watcher`: our own trigger, which only records rows. */
  constructor(watcher?: string) {
    this.#watcher = watcher
  }

  /** Allows reads, and changes of rows in the main file. */
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
      // The first action is the statement itself. Changes by foreign keys follow without a trigger's name. An upsert
      // first reports its INSERT.
      this.verb ??= verb
      this.table ??= first
      if (first !== this.table) this.#reached.add(first)
      else if (verb === "UPDATE" && second !== null) this.columns.add(second)
    }
    return constants.SQLITE_OK
  }

  /** True if existing rows get other rowids, so that they cannot be found by the previous ones. */
  renumbers(columns: readonly { readonly name: string; readonly pk: number }[]): boolean {
    return this.columns.has("ROWID") || columns.some(({ name, pk }) => pk > 0 && this.columns.has(name))
  }

  /** True if the statement or a trigger sets this column in existing rows. */
  sets(column: string): boolean {
    return this.columns.has(column) || this.stamped.has(column)
  }

  /** The other tables that only foreign keys change. Rows that triggers change cannot be counted. */
  reachedByKeys(): string[] {
    return [...this.#reached].filter((table) => !this.#written.has(table))
  }

  /** True if triggers write to the same table, too. */
  triggersWriteToo(): boolean {
    return this.table !== undefined && this.#written.has(this.table)
  }
}

const VERBS: Readonly<Record<number, DatabaseChange["verb"]>> = {
  [constants.SQLITE_INSERT]: "INSERT",
  [constants.SQLITE_UPDATE]: "UPDATE",
  [constants.SQLITE_DELETE]: "DELETE",
}
