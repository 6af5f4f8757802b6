import type { DatabaseChange } from "../database/kind.ts"
import type { QueryLimits } from "../database/walls.ts"

/** What a child process is asked for: to change rows and wait for a word, or to look whether a change is there. */
export interface SqliteChangeJob {
  readonly path: string
  /** What the revision of a change knows the file by, where that is not its path. */
  readonly name?: string | undefined
  /** Where it may lie. */
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
 * By what a change is known again. SQLite counts its transactions in the file: when it has counted one more since, that was
 * this one if the rows are as it has left them, and another if they are not. When it has counted more, nobody can say.
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
  /** What these rows are without it and with it. Where both are the same, they cannot tell whose transaction was counted. */
  readonly before: string
  readonly after: string
}

/** The mark of a change that was made to a copy: it is recorded together with the bytes that take the file's place. */
export interface StoreMark {
  readonly replacedBy: string
}
