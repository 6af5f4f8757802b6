import type { ClientBase } from "pg"

export interface ShortTransaction {
  /** How long to wait for a lock: everyone after a statement that waits for a table waits, too. */
  readonly lockMs: number
  /** After this the server ends the transaction of a frozen process. Only tests set it. */
  readonly idleMs?: number
}

const IDLE_MS = 5000
/** A longer statement is undone before others have waited too long for it. */
const STATEMENT_MS = 10_000
/** The same for all statements together, on PostgreSQL 17 and newer. */
const TRANSACTION_MS = 30_000

/**
 * A transaction whose locks block others, so it ends soon, even if its process is frozen. The timeouts of the role or
 * the database do not apply.
 */
export async function shortTransaction<T>(
  client: ClientBase,
  { lockMs, idleMs = IDLE_MS }: ShortTransaction,
  work: () => Promise<T>,
): Promise<T> {
  const times = {
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    statement_timeout: STATEMENT_MS,
    transaction_timeout: TRANSACTION_MS,
  }
  // The transaction timeout already runs with the role's value, and restarts only after it was disabled.
  await client.query(`BEGIN; ${setLocally({ transaction_timeout: 0 })}; ${setLocally(times)}`)
  try {
    const result = await work()
    await client.query("COMMIT")
    return result
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {})
    throw error
  }
}

/** Sets only those that this PostgreSQL version knows, because it refuses others. */
function setLocally(times: Readonly<Record<string, number>>): string {
  const values = Object.entries(times).map(([name, ms]) => `('${name}', '${ms}')`)
  return `SELECT set_config(name, ms, true) FROM (VALUES ${values.join(", ")}) AS time (name, ms) JOIN pg_settings USING (name)`
}
