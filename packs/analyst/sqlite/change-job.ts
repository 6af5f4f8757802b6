import type { DatabaseChange } from "../database/kind.ts"
import type { QueryLimits } from "../database/sql-guards.ts"

/** A job of the child process: change rows and wait for a decision, or check whether a change is applied. */
export interface SqliteChangeJob {
  readonly path: string
  /** The name of the file in the change's revision, if it differs from the path. */
  readonly name?: string | undefined
  /** The folders that may contain it. */
  readonly folders: readonly string[]
  readonly limits: QueryLimits
  /** The maximum size of the file in bytes. Default: no limit. */
  readonly mostBytes?: number | undefined
  readonly work:
    | { readonly type: "change"; readonly sql: string }
    | { readonly type: "look"; readonly mark: SqliteMark }
}

/** The decision that a change waits for. */
export type SqliteWord = "commit" | "rollback"

export type SqliteChangeOutcome =
  | { readonly type: "changed"; readonly change: DatabaseChange; readonly mark: SqliteMark }
  | { readonly type: "ended" }
  | { readonly type: "seen"; readonly told: "applied" | "not-applied" | "unknown" }
  | { readonly type: "no_file" }
  | { readonly type: "refused" | "failed"; readonly problem: string }

/**
 * Identifies a change. SQLite counts the transactions of a file. If the count is one higher, that was this change if
 * the rows are as it left them, and another if not. If it is higher still, the outcome is unknown.
 */
export interface SqliteMark {
  /** The changed file, because the connection may refer to another one later. Missing in marks of earlier versions. */
  readonly file?: string | undefined
  /** Null if the file has a write-ahead log, which has no counter. */
  readonly counter: number | null
  readonly table: string
  /** The name of the rowid in that table, and the ids of the first rows. */
  readonly rowName: string
  readonly rows: readonly string[]
  /** These rows without and with the change. If both are equal, they cannot show which transaction was counted. */
  readonly before: string
  readonly after: string
}

/** The mark of a change to a copy. It is recorded in the transaction that replaces the stored bytes. */
export interface StoreMark {
  readonly replacedBy: string
}
