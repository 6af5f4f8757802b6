import type { ClientBase } from "pg"

export interface ShortTransaction {
  /** How long to wait for a lock: whoever waits for a table as a whole has everybody behind it who comes later. */
  readonly lockMs: number
  /** Whoever is frozen, or gone without a word, holds its locks for so long. Only tests name it. */
  readonly idleMs?: number
}

const IDLE_MS = 5000
/** A statement that takes longer than this is not what it was taken for, and is undone before everybody has waited for it. */
const STATEMENT_MS = 10_000
/** The same for all of them together, where PostgreSQL can be told so (17 and newer). */
const TRANSACTION_MS = 30_000

/**
 * A transaction with locks that everybody else waits for: it ends soon, whatever becomes of the process that began it. What
 * the role or the database says about these times does not count, neither where it is shorter nor where it is longer.
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
  // The last of them has begun to run, as the role has it, and is begun anew only where it was ended before.
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

/** Only those that this PostgreSQL knows: others are refused. */
function setLocally(times: Readonly<Record<string, number>>): string {
  const values = Object.entries(times).map(([name, ms]) => `('${name}', '${ms}')`)
  return `SELECT set_config(name, ms, true) FROM (VALUES ${values.join(", ")}) AS time (name, ms) JOIN pg_settings USING (name)`
}
