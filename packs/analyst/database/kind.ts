import type { Column, QueryAnswer, Replacement, Target, UserId } from "../../../core/pack.ts"
import type { DatabaseSchema } from "./schema.ts"

/** Which database is meant, who asks, and for how long the answer is of interest. */
export interface DatabaseUse<T extends Target> {
  readonly target: T
  readonly user: UserId
  readonly signal: AbortSignal
  /** The person's, so that a day in the database is a day of theirs. */
  readonly timeZone?: string | undefined
}

/** Rows of a change that are shown to a person, and the characters at which each value is cut. */
export const SHOWN_ROWS = 20
export const SHOWN_CHARACTERS = 200

/** The note of a change that is another one each time, by what it takes its values from: it can hardly be made as it was shown. */
export const RESTLESS =
  "Its WITH or FROM reads the time or chance. Values that come from there are compared with what is shown, so that it may be stale each time: write now() or random() where the value is set."

/** A change of a statement to another table, by foreign keys or triggers. */
export interface SideEffect {
  readonly table: string
  readonly deleted: number
  readonly added: number
  readonly changed: number
}

/** At most this many other tables are named. */
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
  /** Rows that it writes or deletes; of an INSERT also those that it writes twice. */
  readonly affected: number
  /** The new rows among them. */
  readonly added: number
  /** The rows among them that existed before. */
  readonly overwritten: number
  /** An UPDATE or DELETE of every row that the table has. */
  readonly all: boolean
  /** All would be as it was, here and wherever triggers and foreign keys reach. */
  readonly nothing: boolean
  readonly columns: readonly Column[]
  /** The first of the rows, as they were and as they become, those first that were there; null where there are none. */
  readonly before: readonly unknown[][] | null
  readonly after: readonly unknown[][] | null
  /** Each row of `before` became the one at the same place of `after`. */
  readonly paired: boolean
  /** The columns whose values the database makes when the change is made: numbers, times, chance. They are not compared. */
  readonly made: readonly string[]
  /** The generated columns that an existing row retains: only new rows get another value. */
  readonly kept: readonly string[]
  /** Further notes for the user who decides, such as triggers. */
  readonly notes: readonly string[]
  /** The same where the same rows would become the same. */
  readonly revision: string
}

/** One try to make a change that was agreed to. */
export interface ChangeAttempt {
  /** The revision that was shown. Where it has become another, nothing is done. */
  readonly expected: string
  /**
   * Records how the target can be asked about this attempt. Durable when it resolves; throws if another attempt has
   * started. A change that replaces the bytes of a stored file `replaces` them in the same transaction. If the file has
   * changed since, it returns `moved` and records nothing.
   */
  record(mark: string, change: DatabaseChange, replaces?: Replacement): Promise<"moved" | void>
}

/**
 * A kind of database, one file each. But for `apply`, whatever it is asked, it changes nothing: not the database, no file,
 * and no network beyond the one address that was judged. The guards are listed in sql-guards.ts.
 */
export interface DatabaseKind<T extends Target = Target> {
  /** Throws where this may not be stored as a connection of the person. */
  check(target: T, user: UserId): Promise<void>
  /** Throws `query_refused` for anything but one statement that reads. */
  guard(sql: string): Promise<void>
  /** Opens the database and lets it answer, for a look at whether it does; tells what is dangerous about coming like this. */
  probe(place: DatabaseUse<T>): Promise<readonly string[]>
  /** Guards, opens, runs and closes. */
  query(place: DatabaseUse<T>, sql: string): Promise<QueryAnswer>
  introspect(place: DatabaseUse<T>): Promise<DatabaseSchema>
  /** Does what one statement says and takes it back: throws `change_refused` for anything but one that changes rows. */
  rehearse(place: DatabaseUse<T>, sql: string): Promise<DatabaseChange>
  /** Does it, at most once. Throws `row_stale` where it is no longer what was shown, and `outcome_unknown`. */
  apply(place: DatabaseUse<T>, sql: string, attempt: ChangeAttempt): Promise<DatabaseChange>
  /** The outcome of an attempt that was interrupted after its mark was recorded. */
  outcome(place: DatabaseUse<T>, mark: string): Promise<"applied" | "not-applied" | "unknown">
  close(): Promise<void>
}
