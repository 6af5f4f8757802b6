import type { QueryAnswer } from "../../../core/protocol/databases/connections.ts"
import type { QueryLimits, SqliteLayers } from "../database/walls.ts"
import type { DatabaseSchema } from "../database/schema.ts"

/** What a child process is asked for. */
export interface SqliteJob {
  readonly path: string
  /** Where it may lie. */
  readonly folders: readonly string[]
  readonly work: { readonly type: "query"; readonly sql: string } | { readonly type: "introspect" | "probe" }
  readonly limits: QueryLimits
  readonly layers: SqliteLayers
}

/** What comes back. */
export type SqliteOutcome =
  | { readonly type: "answer"; readonly answer: QueryAnswer }
  | { readonly type: "schema"; readonly schema: DatabaseSchema }
  | { readonly type: "fine" }
  | { readonly type: "no_file" }
  | { readonly type: "too_large" }
  | { readonly type: "refused" | "failed"; readonly problem: string }
