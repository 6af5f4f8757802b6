import { type ClientBase, escapeIdentifier } from "pg"
import { partName, type PartitionedTable, rangeOf, restName } from "../partitioned.ts"
import { toBounds } from "./add-part.ts"
import { giveIdentity, readPartSettings, storageOf } from "./part-settings.ts"
import { boundName } from "./table-state.ts"
import { findUnique } from "./unique-index.ts"
import { readViews, replaceViews } from "./views-over.ts"

/**
 * Gives the table's name to one of parts and makes the table its first, in a transaction that has it locked. Nothing here
 * takes longer for a table with many rows. Statements that others have prepared are parsed again, and find the new one.
 */
export async function makeFirstPart(
  client: ClientBase,
  table: PartitionedTable,
  { role, bound }: { readonly role: string; readonly bound: number },
): Promise<void> {
  const { name, key, unique } = table
  const [first, next, rest] = [partName(table, 0), partName(table, rangeOf(table, bound)), restName(table)]
  const index = await findUnique(client, name, unique)
  const grants = await readGrants(client, name)
  const settings = await readPartSettings(client, name)
  const place = await storageOf(client, name)
  const storage = await storageOf(client, name, settings)
  // While the old table has its name: what they are made of is told by the names of today.
  const views = await readViews(client, name, role)
  const statements = [
    `ALTER TABLE ${name} RENAME TO ${first}`,
    `ALTER INDEX ${index} RENAME TO ${first}_unique`,
    `CREATE TABLE ${name} (LIKE ${first} INCLUDING ALL EXCLUDING INDEXES EXCLUDING CONSTRAINTS EXCLUDING IDENTITY
      EXCLUDING STATISTICS) PARTITION BY RANGE (${key}) ${place}`,
    // PostgreSQL reads no row for this: the bound says that they fit.
    `ALTER TABLE ${name} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO (${bound})`,
    `ALTER TABLE ${first} DROP CONSTRAINT ${boundName(table)}`,
    `CREATE UNIQUE INDEX ${unique.name} ON ONLY ${name} (${unique.columns.join(", ")})`,
    `ALTER INDEX ${unique.name} ATTACH PARTITION ${first}_unique`,
    `CREATE TABLE ${rest} PARTITION OF ${name} DEFAULT ${storage}`,
    `CREATE TABLE ${next} PARTITION OF ${name} ${toBounds(table, rangeOf(table, bound))} ${storage}`,
    ...grants,
  ]
  await client.query(statements.join(";\n"))
  for (const part of [rest, next]) await giveIdentity(client, table, { part, settings })
  // Views may be those of others, whom the owner of the table may not act for and whoever is connected may.
  await client.query(`SET LOCAL ROLE ${escapeIdentifier(role)}`)
  await replaceViews(client, views)
}

/** Whoever could read or write the table still can. */
async function readGrants(client: ClientBase, name: string): Promise<string[]> {
  const sql = `WITH given AS (
      SELECT '' AS columns, c.relowner, a.* FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = $1::regclass
      UNION ALL SELECT format('(%I)', t.attname), c.relowner, a.* FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid,
        aclexplode(t.attacl) a WHERE c.oid = $1::regclass AND NOT t.attisdropped)
    SELECT format('GRANT %s %s ON %I TO %s', privilege_type, columns, $2::text,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
      || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS sql
    FROM given WHERE grantee <> relowner`
  return (await client.query<{ sql: string }>(sql, [name, name])).rows.map((row) => row.sql)
}
