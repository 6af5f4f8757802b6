import type { ClientBase } from "pg"
import { partName, type PartitionedTable, rangeOf, restName } from "../partitioned.ts"
import { nextBound, type TableState } from "./table-state.ts"
import { findUnique } from "./unique-index.ts"

/**
 * Rejects, with what an operator can do about it, where a table cannot be made one of parts, as far as that can be told
 * beforehand: nothing has been changed yet, and the rows have not been read.
 */
export async function demandPossible(client: ClientBase, table: PartitionedTable, state: TableState): Promise<void> {
  demandOwner(table, state)
  const { name, unique } = table
  const next = rangeOf(table, state.bound ?? nextBound(table, state))
  const names = [partName(table, 0), `${partName(table, 0)}_unique`, partName(table, next), restName(table)]
  const index = await findUnique(client, name, unique)
  // Last, and nothing where another node has made the parts by now: then all of this was asked about another table.
  const sql = `SELECT c.relrowsecurity AS "hasPolicies",
      has_schema_privilege(c.relowner, c.relnamespace, 'CREATE') AS "mayCreate",
      ARRAY(SELECT t.relname::text FROM pg_class t WHERE t.relnamespace = c.relnamespace AND t.relname = ANY ($2)) AS taken
    FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relname = $3 AND c.relkind <> 'p'`
  const { rows } = await client.query<Possible>(sql, [name, names, name])
  const [found] = rows
  if (!found) return
  if (found.hasPolicies)
    throw new Error(
      `${name} has row-level security, which would not hold for what is partitioned: it stays one table. ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY lets it be partitioned`,
    )
  if (!found.mayCreate)
    throw new Error(
      `${state.owner}, who owns ${name}, may not create its partitions: GRANT CREATE ON SCHEMA ${state.schema} TO ${state.owner}`,
    )
  if (found.taken.length > 0)
    throw new Error(`${name} needs these names for its partitions: ${found.taken.join(", ")}. Rename what has them`)
  if (!index)
    throw new Error(
      `${name} has no valid unique index on (${unique.columns.join(", ")}). REINDEX INDEX CONCURRENTLY ${unique.name} makes it valid again, or CREATE UNIQUE INDEX CONCURRENTLY makes one`,
    )
}

interface Possible {
  readonly hasPolicies: boolean
  readonly mayCreate: boolean
  readonly taken: readonly string[]
}

export function demandOwner({ name }: PartitionedTable, { owner, isOurs }: TableState): void {
  if (isOurs) return
  throw new Error(
    `only ${owner}, who owns ${name}, can make its partitions: run pawl migrate as that role now and then`,
  )
}
