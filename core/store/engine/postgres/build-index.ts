import type { ClientBase } from "pg"
import { type NewIndex, toIndexStatement } from "../new-index.ts"
import type { PostgresPool } from "./pool.ts"

/**
 * Builds an index while others read and write its table. One that a crash has left half-built is in the way and of no use:
 * it is dropped first. Where it is half-built at the end, too, another process was at it and has failed: then once more.
 */
export async function buildIndex(pool: PostgresPool, index: NewIndex, lockMs: number): Promise<void> {
  await pool.use(async (client) => {
    do {
      await dropHalfBuilt(client, index, lockMs)
      // Its own locks keep nobody from reading or writing, so it may wait for them, and for older transactions, at leisure.
      await client.query(toIndexStatement(index, "CONCURRENTLY"))
    } while (await isHalfBuilt(client, index))
  }, "long")
}

async function dropHalfBuilt(client: ClientBase, index: NewIndex, lockMs: number): Promise<void> {
  if (!(await isHalfBuilt(client, index))) return
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockMs}`)
  try {
    // Whoever builds it holds this lock: under it, half-built means that nobody is at it any more.
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
