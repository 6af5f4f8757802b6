import type { Column, QueryAnswer, Replacement, Target, UserId } from "../../../core/pack.ts"
import type { DatabaseSchema } from "./schema.ts"

/** A database, the user who asks, and a signal that cancels the request. */
export interface DatabaseUse<T extends Target> {
  readonly target: T
  readonly user: UserId
  readonly signal: AbortSignal
  /** The user's, so that days in the database are the user's days. */
  readonly timeZone?: string | undefined
}

/** The rows of a change that a person sees, and the most characters of each value. */
export const SHOWN_ROWS = 20
export const SHOWN_CHARACTERS = 200

/** A note that the change has different values each time, so it can seldom be applied as it was shown. */
export const RESTLESS =
  "Its WITH or FROM reads the time or chance. Values that come from there are compared with what is shown, so that it may be stale each time: write now() or random() where the value is set."

/** A change of a statement to another table, by foreign keys or triggers. */
export interface SideEffect {
  readonly table: string
  readonly deleted: number
  readonly added: number
  readonly changed: number
}

/** The most other tables that are named. */
const NAMED_TABLES = 5

/** `more`: changed rows that could not be located. */
export function sideEffectNotes(beside: readonly SideEffect[], more: number): string[] {
  const named = beside.slice(0, NAMED_TABLES)
  const rest = beside.slice(NAMED_TABLES).reduce((sum, each) => sum + each.deleted + each.added + each.changed, more)
  const parts = [
    ...named.flatMap(({ table, deleted }) => (deleted > 0 ? `deletes ${deleted} row(s) of ${table}` : [])),
    ...named.flatMap(({ table, changed }) => (changed > 0 ? `changes ${changed} row(s) of ${table}` : [])),
    ...named.flatMap(({ table, added }) => (added > 0 ? `adds ${added} row(s) to ${table}` : [])),
    ...(rest > 0 ? [`changes ${rest} more row(s)`] : []),
  ]
  return parts.length > 0 ? [`By foreign keys or triggers it also ${inWords(parts)}.`] : []
}

const inWords = (parts: readonly string[]) =>
  parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join("")

/** The change that one statement makes, or would make. */
export interface DatabaseChange {
  readonly verb: "INSERT" | "UPDATE" | "DELETE"
  readonly table: string
  /** Rows that it writes or deletes. An INSERT may write a row twice, which counts twice. */
  readonly affected: number
  /** The new rows among them. */
  readonly added: number
  /** The rows among them that existed before. */
  readonly overwritten: number
  /** An UPDATE or DELETE of every row that the table has. */
  readonly all: boolean
  /** It changes nothing, also not by triggers and foreign keys. */
  readonly nothing: boolean
  readonly columns: readonly Column[]
  /** The first rows before and after the change, existing rows first; null if there are none. */
  readonly before: readonly unknown[][] | null
  readonly after: readonly unknown[][] | null
  /** Each row of `before` has the same position in `after`. */
  readonly paired: boolean
  /** Columns whose values the database generates: numbers, times, random values. They are not compared. */
  readonly made: readonly string[]
  /** The generated columns that an existing row retains: only new rows get another value. */
  readonly kept: readonly string[]
  /** Further notes for the user who decides, such as triggers. */
  readonly notes: readonly string[]
  /** Equal for two changes if they change the same rows in the same way. */
  readonly revision: string
}

/** One attempt to apply an approved change. */
export interface ChangeAttempt {
  /** The revision that was shown. If the change now has another one, it is not applied. */
  readonly expected: string
  /**
   * Records how the target can be asked about this attempt. Durable when it resolves; throws if another attempt has
   * started. A change that replaces the bytes of a stored file `replaces` them in the same transaction. If the file has
   * changed since, it returns `moved` and records nothing.
   */
  record(mark: string, change: DatabaseChange, replaces?: Replacement): Promise<"moved" | void>
}

/**
 * A kind of database, one file each. Except for `apply`, it never changes anything: no database, no file, and it
 * connects only to the checked address. The guards are listed in sql-guards.ts.
 */
export interface DatabaseKind<T extends Target = Target> {
  /** Throws if the person may not store this connection. */
  check(target: T, user: UserId): Promise<void>
  /** Throws `query_refused` unless it is one statement that reads. */
  guard(sql: string): Promise<void>
  /** Opens the database with a test query. Returns warnings, such as about the permissions of the connection. */
  probe(place: DatabaseUse<T>): Promise<readonly string[]>
  /** Checks the statement, opens the database, runs the query, and closes. */
  query(place: DatabaseUse<T>, sql: string): Promise<QueryAnswer>
  introspect(place: DatabaseUse<T>): Promise<DatabaseSchema>
  /** Runs a statement and rolls it back. Throws `change_refused` unless it changes rows. */
  rehearse(place: DatabaseUse<T>, sql: string): Promise<DatabaseChange>
  /** Applies the change at most once. Throws `row_stale` if it differs from what was shown, and `outcome_unknown`. */
  apply(place: DatabaseUse<T>, sql: string, attempt: ChangeAttempt): Promise<DatabaseChange>
  /** The outcome of an attempt that was interrupted after its mark was recorded. */
  outcome(place: DatabaseUse<T>, mark: string): Promise<"applied" | "not-applied" | "unknown">
  close(): Promise<void>
}
