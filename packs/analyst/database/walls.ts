/**
 * The walls between a statement that a model has written and somebody's database: all of them, and where each stands. Every
 * one holds by itself, so that a hole in one is no way through. `test/analyst/walls-postgres.slow.test.ts` and
 * `test/analyst/walls-sqlite.slow.test.ts` take one away at a time and attack the others; `guards.test.ts` of this pack
 * holds the guards against statements that must pass and that must not; `test/children/walls.test.ts` is about the processes.
 *
 * Around both kinds:
 * - the text's length, and characters that end it early: `PostgresGuard.problemOf`, `problemOfStatement` of sqlite/
 * - time, rows and bytes: `queryLimits`, below
 * - turns, so that one person's queries are not in the way of another's: `FairQueue` in postgres/kind.ts, sqlite/children.ts
 *
 * Around PostgreSQL, beside the four of `PostgresLayers`:
 * - what a query makes the planner do, which no time-out ends: postgres/work.ts, counts.ts
 * - rows are fetched by a cursor, and bytes are counted off the wire: postgres/rows.ts, messages.ts
 * - which addresses are gone to, and that closed ones all look alike: postgres/hosts.ts, unreachable.ts
 * - all is rolled back, the line is cut, and the server's process is seen to end: postgres/session.ts, link.ts, backend.ts
 * - a superuser is refused, where the operator has not agreed; dangerous powers are told: postgres/transaction.ts, powers.ts
 * - a change is one statement of a known form: postgres/plan.ts
 *
 * Around SQLite, beside the three of `SqliteLayers`:
 * - which files are opened, and that no other was: sqlite/file.ts
 * - the engine's own bounds, and its defensive mode: sqlite/run-job.ts; for changes sqlite/run-change.ts
 * - a process of its own, with bounded memory, that reaches its person's folders alone: sqlite/children.ts, change-children.ts
 * - what a change may write to: sqlite/writes.ts
 */

/** What one query may cost (promise 19). */
export interface QueryLimits {
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
}

export const queryLimits: QueryLimits = { seconds: 10, rows: 10_000, bytes: 8 * 1024 * 1024 }

/** The walls around a query of PostgreSQL. A test takes one away at a time. */
export interface PostgresLayers {
  /** The statement is looked through with PostgreSQL's own grammar, in a thread: postgres/guard.ts, rules.ts, functions.ts. */
  readonly guard: boolean
  /** The protocol takes one statement and no more: postgres/session.ts. */
  readonly oneStatement: boolean
  /** The transaction can only read: postgres/transaction.ts. */
  readonly readOnly: boolean
  /** A superuser becomes somebody who may only read: postgres/transaction.ts. */
  readonly role: boolean
}

export const everyPostgresWall: PostgresLayers = { guard: true, oneStatement: true, readOnly: true, role: true }

/** A change has to be able to write, as whoever the connection is for; the statement is looked through all the same. */
export const changingPostgres: PostgresLayers = { ...everyPostgresWall, readOnly: false, role: false }

/** The walls around a query of SQLite. A test takes one away at a time. */
export interface SqliteLayers {
  /** One statement, which begins as one that reads: sqlite/statement.ts. */
  readonly statement: boolean
  /** SQLite asks us about every part of it: sqlite/rules.ts. */
  readonly authorizer: boolean
  /** The file is open for reading only: sqlite/run-job.ts. */
  readonly readOnly: boolean
}

export const everySqliteWall: SqliteLayers = { statement: true, authorizer: true, readOnly: true }
