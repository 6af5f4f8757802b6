import type { QueryAnswer, Target } from "../../protocol/connections.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { DatabaseSchema } from "./database-schema.ts"

/** Which database is meant, who asks, and for how long the answer is of interest. */
export interface Place<T extends Target> {
  readonly target: T
  readonly user: UserId
  readonly signal: AbortSignal
}

/**
 * A kind of database, one file each. Whatever it is asked, it changes nothing: not the database, no file, and no network
 * beyond the one address that was judged. Each wall stands by itself, so that a hole in one is no way through.
 */
export interface DatabaseKind<T extends Target = Target> {
  /** Throws where this may not be stored as a connection of the person. */
  check(target: T, user: UserId): Promise<void>
  /** Throws `query_refused` for anything but one statement that reads. */
  guard(sql: string): Promise<void>
  /** Opens the database and lets it answer, for a look at whether it does. */
  probe(place: Place<T>): Promise<void>
  /** Guards, opens, runs and closes. */
  query(place: Place<T>, sql: string): Promise<QueryAnswer>
  introspect(place: Place<T>): Promise<DatabaseSchema>
  close(): Promise<void>
}

/** What one query may cost (promise 19). */
export interface QueryLimits {
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
}

export const queryLimits: QueryLimits = { seconds: 10, rows: 10_000, bytes: 8 * 1024 * 1024 }
