import type { ClientBase } from "pg"
import { withOptions } from "./relation-options.ts"

/** A view that reads a table itself, not through another view. */
export interface ViewOver {
  readonly name: string
  readonly definition: string
  /** Such as `security_barrier=true`. */
  readonly options: readonly string[] | null
}

const OVER = `FROM pg_class v WHERE v.relpersistence <> 't' AND v.oid IN (SELECT r.ev_class FROM pg_depend d
    JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass($1) AND r.ev_class <> d.refobjid)`

const REPLACEABLE = `${OVER} AND v.relkind = 'v' AND pg_has_role($2::text, v.relowner, 'USAGE') ORDER BY v.oid`

/**
 * Those that a role may replace. Telling what a view is made of locks the table: only whoever has it locked
 * as a whole may ask. Two that had not would each wait for the other.
 */
export async function readViews(client: ClientBase, table: string, role: string): Promise<ViewOver[]> {
  const sql = `SELECT v.oid::regclass::text AS name, pg_get_viewdef(v.oid) AS definition, v.reloptions AS options ${REPLACEABLE}`
  return (await client.query<ViewOver>(sql, [table, role])).rows
}

/** By giving each the owner that it has: LOCK TABLE would lock all that the view reads, too. */
export async function lockViews(client: ClientBase, table: string, role: string): Promise<void> {
  const sql = `SELECT format('ALTER VIEW %s OWNER TO %I', v.oid::regclass, pg_get_userbyid(v.relowner)) AS sql ${REPLACEABLE}`
  const { rows } = await client.query<{ sql: string }>(sql, [table, role])
  for (const { sql } of rows) await client.query(sql)
}

/**
 * A view reads the table that it was made over, whatever that is called by now. Made again in its place it reads the one
 * that has the name today, and views of others on top of it, and who may read it, stay as they are.
 */
export async function replaceViews(client: ClientBase, views: readonly ViewOver[]): Promise<void> {
  for (const { name, definition, options } of views) {
    await client.query("SAVEPOINT view")
    try {
      await client.query(`CREATE OR REPLACE VIEW ${name} ${withOptions(options)} AS ${definition}`)
      await client.query("RELEASE SAVEPOINT view")
    } catch (error) {
      // One with whole rows of the table in a column cannot be: their type is that of the first part.
      if (!/^42/.test(String((error as { code?: unknown }).code))) throw error
      await client.query("ROLLBACK TO SAVEPOINT view")
    }
  }
}

/** What reads a part of the table as if it were all there is. */
export async function viewsLeft(client: ClientBase, table: string, part: string): Promise<string[]> {
  const sql = `SELECT v.oid::regclass::text AS name ${OVER} AND v.relkind IN ('v', 'm')
    AND EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1) AND inhparent = to_regclass($2)) ORDER BY 1`
  return (await client.query<{ name: string }>(sql, [part, table])).rows.map(({ name }) => name)
}
