import type { ClientBase } from "pg"
import { type NewIndex, toIndexStatement } from "../schema-syntax.ts"
import type { PostgresPool } from "./pool.ts"

/**
 * Builds an index while others read and write its table. An invalid index that a crash left behind is dropped first. If
 * the index is invalid at the end, another process built it at the same time and failed, so this tries again.
 */
export async function buildIndex(pool: PostgresPool, index: NewIndex, lockMs: number): Promise<void> {
  await pool.use(async (client) => {
    do {
      await dropHalfBuilt(client, index, lockMs)
      // Its locks block neither reads nor writes, so it may wait for older transactions.
      await client.query(toIndexStatement(index, "CONCURRENTLY"))
    } while (await isHalfBuilt(client, index))
  }, "long")
}

async function dropHalfBuilt(client: ClientBase, index: NewIndex, lockMs: number): Promise<void> {
  if (!(await isHalfBuilt(client, index))) return
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockMs}`)
  try {
    // A process that builds the index holds this lock. So if the index is invalid under this lock, its build has
    // failed.
    await client.query(`LOCK TABLE ${index.table} IN SHARE UPDATE EXCLUSIVE MODE`)
    if (await isHalfBuilt(client, index)) await client.query(`DROP INDEX ${index.name}`)
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {})
    throw error
  }
}

async function isHalfBuilt(client: ClientBase, { name }: NewIndex): Promise<boolean> {
  const sql = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid"
  return (await client.query(sql, [name])).rows.length > 0
}
