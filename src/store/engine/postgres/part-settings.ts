import type { ClientBase } from "pg"
import type { PartitionedTable } from "../partitioned.ts"
import { withOptions } from "./relation-options.ts"
import { findUnique } from "./unique-index.ts"

/** What an operator has said about a part, and holds for those that come after it. */
export interface PartSettings {
  /** Such as `fillfactor=90`. */
  readonly options: readonly string[]
  /** How rows are told apart that a publication says are deleted: by all of them, by an index, or as PostgreSQL does by itself. */
  readonly identity: "f" | "i" | "n" | "d"
}

/** Of a table, or undefined where there is none. */
export async function readPartSettings(client: ClientBase, table: string): Promise<PartSettings | undefined> {
  const sql = `SELECT c.relreplident AS identity, coalesce(c.reloptions, '{}')
      || ARRAY(SELECT 'toast.' || o FROM pg_class t, unnest(t.reloptions) AS o WHERE t.oid = c.reltoastrelid) AS options
    FROM pg_class c WHERE c.oid = to_regclass($1)`
  return (await client.query<PartSettings>(sql, [table])).rows[0]
}

/** The words behind a CREATE TABLE: the options of a part, and where the table keeps its parts. */
export async function storageOf(client: ClientBase, table: string, settings?: PartSettings): Promise<string> {
  // Where the owner may not write they go to where everything goes.
  const sql = `SELECT format('TABLESPACE %I', s.spcname) AS place FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
    WHERE c.oid = $1::regclass AND has_tablespace_privilege(s.oid, 'CREATE')`
  const { rows } = await client.query<{ place: string }>(sql, [table])
  return `${withOptions(settings?.options)} ${rows[0]?.place ?? ""}`
}

/**
 * A part that is made has none of this from its table, whatever the others have: and without, whoever deletes from a table
 * that is published is refused.
 */
export async function giveIdentity(
  client: ClientBase,
  { unique }: PartitionedTable,
  { part, settings }: { readonly part: string; readonly settings: PartSettings | undefined },
): Promise<void> {
  const { identity = "d" } = settings ?? {}
  if (identity === "d") return
  const index = identity === "i" ? await findUnique(client, part, unique) : undefined
  const words = index ? `USING INDEX ${index}` : identity === "n" ? "NOTHING" : "FULL"
  await client.query(`ALTER TABLE ${part} REPLICA IDENTITY ${words}`)
}
