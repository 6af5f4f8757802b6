import type { DatabaseChange } from "../database/kind.ts"
import type { QueryLimits } from "../database/sql-guards.ts"

/** A job of the child process: change rows and wait for a decision, or check whether a change is applied. */
export interface SqliteChangeJob {
  readonly path: string
  /** The name of the file in the change's revision, if it is not its path. */
  readonly name?: string | undefined
  /** The folders that may contain it. */
  readonly folders: readonly string[]
  readonly limits: QueryLimits
  /** How large the file may become, in bytes; without, as large as its disk allows. */
  readonly mostBytes?: number | undefined
  readonly work:
    | { readonly type: "change"; readonly sql: string }
    | { readonly type: "look"; readonly mark: SqliteMark }
}

/** The word that a change waits for. */
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
  /** The file that it was made to: a connection may lead to another one by now. Marks of earlier versions do not say it. */
  readonly file?: string | undefined
  /** Null where the file has a write-ahead log: there nothing is counted. */
  readonly counter: number | null
  readonly table: string
  /** How the number of a row is called in that table, and the numbers of the first rows. */
  readonly rowName: string
  readonly rows: readonly string[]
  /** These rows without and with the change. If both are equal, they cannot show which transaction was counted. */
  readonly before: string
  readonly after: string
}

/** The mark of a change that was made to a copy: it is recorded together with the bytes that take the file's place. */
export interface StoreMark {
  readonly replacedBy: string
}
