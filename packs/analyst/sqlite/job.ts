import type { QueryAnswer } from "../../../core/pack.ts"
import type { QueryLimits, SqliteGuards } from "../database/sql-guards.ts"
import type { DatabaseSchema } from "../database/schema.ts"

/** A job of the child process. */
export interface SqliteJob {
  readonly path: string
  /** The folders that may contain it. */
  readonly folders: readonly string[]
  readonly work: { readonly type: "query"; readonly sql: string } | { readonly type: "introspect" | "probe" }
  readonly limits: QueryLimits
  readonly guards: SqliteGuards
}

/** The result of the job. */
export type SqliteOutcome =
  | { readonly type: "answer"; readonly answer: QueryAnswer }
  | { readonly type: "schema"; readonly schema: DatabaseSchema }
  | { readonly type: "fine" }
  | { readonly type: "no_file" }
  | { readonly type: "too_large" }
  | { readonly type: "refused" | "failed"; readonly problem: string }
