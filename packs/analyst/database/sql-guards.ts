/**
 * The guards between SQL that a model wrote and a user's database. A query is refused (`query_refused`) in postgres/kind.ts
 * and sqlite/kind.ts, a change (`change_refused`) in postgres/changes.ts and sqlite/changes.ts.
 *
 * Each guard works independently, so that a hole in one does not open the database. `test/analyst/sql-guards-postgres.slow.test.ts` and `test/analyst/sql-guards-sqlite.slow.test.ts` disable one at
 * a time and attack the others; `guards.test.ts` of this pack lists statements that must pass and statements that must
 * not; `test/children/walls.test.ts` is about the processes.
 *
 * For both kinds of database:
 * - length of the text, and characters that end it early: `PostgresGuard` of postgres/guard.ts, `problemOfStatement` of
 *   sqlite/statement.ts
 * - time, rows and bytes: `queryLimits`, below
 * - a fair queue, so that one user's queries do not delay another's: `FairQueue` in postgres/kind.ts, sqlite/children.ts
 *
 * For PostgreSQL, in addition to the four of `PostgresGuards`:
 * - the planner's work on a query, which no time-out interrupts: postgres/work.ts, counts.ts
 * - rows are fetched by a cursor, and bytes are counted as they arrive: postgres/rows.ts, messages.ts
 * - permitted addresses, and the same error for all closed ones: postgres/hosts.ts, unreachable.ts
 * - everything is rolled back, the connection is cut, and the backend ends: postgres/session.ts, link.ts, backend.ts
 * - superusers are refused unless the operator permits them; dangerous permissions cause warnings: postgres/transaction.ts,
 *   role-warnings.ts
 * - a change is one statement of a known form: postgres/plan.ts
 *
 * For SQLite, in addition to the three of `SqliteGuards`:
 * - which files are opened, and that no other was: sqlite/file.ts
 * - the engine's own limits, and its defensive mode: sqlite/run-job.ts; for changes sqlite/run-change.ts
 * - a child process with bounded memory, which sees only its user's folders: sqlite/children.ts, change-children.ts
 * - which tables a change may write to: sqlite/writes.ts
 */

/** The limits of one query. */
export interface QueryLimits {
  readonly seconds: number
  readonly rows: number
  readonly bytes: number
}

export const queryLimits: QueryLimits = { seconds: 10, rows: 10_000, bytes: 8 * 1024 * 1024 }

/** The guards of a query on PostgreSQL. A test disables one at a time. */
export interface PostgresGuards {
  /** The statement is checked with PostgreSQL's own grammar, in a thread: postgres/guard.ts, rules.ts, functions.ts. */
  readonly grammar: boolean
  /** The protocol accepts only one statement: postgres/session.ts. */
  readonly oneStatement: boolean
  /** The transaction can only read: postgres/transaction.ts. */
  readonly readOnly: boolean
  /** A superuser changes to a role that can only read: postgres/transaction.ts. */
  readonly role: boolean
}

export const allPostgresGuards: PostgresGuards = { grammar: true, oneStatement: true, readOnly: true, role: true }

/** A change must write, with the connection's own role. Its statement is checked as well. */
export const changeGuards: PostgresGuards = { ...allPostgresGuards, readOnly: false, role: false }

/** The guards of a query on SQLite. A test disables one at a time. */
export interface SqliteGuards {
  /** One statement that starts with a keyword of a read: sqlite/statement.ts. */
  readonly statement: boolean
  /** SQLite asks for permission for each part of it: sqlite/rules.ts. */
  readonly authorizer: boolean
  /** The file is open for reading only: sqlite/run-job.ts. */
  readonly readOnly: boolean
}

export const allSqliteGuards: SqliteGuards = { statement: true, authorizer: true, readOnly: true }
