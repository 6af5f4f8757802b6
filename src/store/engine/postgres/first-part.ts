import type { ClientBase } from "pg"
import { partName, type PartitionedTable, rangeOf, restName } from "../partitioned.ts"
import { toBounds } from "./add-part.ts"
import { boundName } from "./table-state.ts"
import { readViews, replaceViews, viewsLeft } from "./views-over.ts"

/**
 * Gives the table's name to one of parts and makes the table its first, in a transaction that has it locked. Nothing here
 * takes longer for a table with many rows. Statements that others have prepared are parsed again, and find the new one.
 */
export async function makeFirstPart(
  client: ClientBase,
  table: PartitionedTable,
  { owner, bound }: { readonly owner: string; readonly bound: number },
): Promise<string[]> {
  const { name, key, unique } = table
  const first = partName(table, 0)
  const index = await findUnique(client, table)
  const grants = await readGrants(client, name)
  // While the old table has its name: what they are made of is told by the names of today.
  const views = await readViews(client, name)
  const next = rangeOf(table, bound)
  const statements = [
    `ALTER TABLE ${name} RENAME TO ${first}`,
    `ALTER INDEX ${index} RENAME TO ${first}_unique`,
    `CREATE TABLE ${name} (LIKE ${first} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION
      INCLUDING COMMENTS) PARTITION BY RANGE (${key})`,
    // PostgreSQL reads no row for this: the bound says that they fit.
    `ALTER TABLE ${name} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO (${bound})`,
    `ALTER TABLE ${first} DROP CONSTRAINT ${boundName(table)}`,
    `CREATE UNIQUE INDEX ${unique.name} ON ONLY ${name} (${unique.columns.join(", ")})`,
    `ALTER INDEX ${unique.name} ATTACH PARTITION ${first}_unique`,
    `CREATE TABLE ${restName(table)} PARTITION OF ${name} DEFAULT`,
    `CREATE TABLE ${partName(table, next)} PARTITION OF ${name} ${toBounds(table, next)}`,
    ...grants,
    // Views may be those of others, whom the owner of the table may not act for and whoever is connected may.
    "SET LOCAL ROLE NONE",
  ]
  await client.query(statements.join(";\n"))
  await replaceViews(client, views)
  await client.query(`SET LOCAL ROLE ${owner}`)
  return viewsLeft(client, first)
}

/** The one that becomes the first part's. One that is not valid, as a crash may have left it, holds nobody to anything. */
async function findUnique(client: ClientBase, { name, unique }: PartitionedTable): Promise<string> {
  const sql = `SELECT i.indexrelid::regclass::text AS index FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) = $2
    ORDER BY c.relname = $3 DESC LIMIT 1`
  const { rows } = await client.query<{ index: string }>(sql, [name, unique.columns, unique.name])
  const [row] = rows
  if (row) return row.index
  const columns = unique.columns.join(", ")
  throw new Error(
    `${name} has no valid unique index on (${columns}). REINDEX INDEX CONCURRENTLY ${unique.name} makes it valid again, or CREATE UNIQUE INDEX CONCURRENTLY makes one`,
  )
}

/**
 * Whoever could read or write the table still can. But not where policies chose rows for them: these stay on the first
 * part, and whoever they held back must not see more than before.
 */
async function readGrants(client: ClientBase, name: string): Promise<string[]> {
  const sql = `WITH given AS (
      SELECT '' AS columns, c.relowner, a.* FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = $1::regclass AND NOT c.relrowsecurity
      UNION ALL SELECT format('(%I)', t.attname), c.relowner, a.* FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid,
        aclexplode(t.attacl) a WHERE c.oid = $1::regclass AND NOT c.relrowsecurity AND NOT t.attisdropped)
    SELECT format('GRANT %s %s ON %I TO %s', privilege_type, columns, $2::text,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
      || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS sql
    FROM given WHERE grantee <> relowner`
  return (await client.query<{ sql: string }>(sql, [name, name])).rows.map((row) => row.sql)
}
