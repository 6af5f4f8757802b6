import type { Engine } from "../engine/engine.ts"
import type { MasterKey } from "./master-keys.ts"
import type { Statement } from "../engine/operations.ts"
import { type SecretRow, encryptForRow, decryptForRow } from "./row-encryption.ts"

/** All tables with secrets. Each has the columns `id`, `person`, `key_id` and `sealed`. */
export const secretTables: readonly string[] = [
  "provider_key",
  "connection",
  "mcp_server",
  "mcp_sign_in",
  "mcp_sign_in_attempt",
]

export interface RotationProgress {
  readonly table: string
  /** Secrets that are encrypted with the new key now. */
  readonly done: number
  /** Secrets that none of our keys can decrypt. They stay as they are. */
  readonly unreadable: readonly string[]
}

type Row = { readonly id: string; readonly person: string; readonly key_id: string; readonly sealed: string }

/** Rows per change: few enough that saving a secret is not delayed. */
const PAGE = 20

/**
 * Encrypts every secret with a new key, after `Secrets.changeOver`, and reports its progress. It can be killed and
 * restarted at any point: each row records which key it uses.
 */
export async function* rotateSecrets(
  engine: Engine,
  { to, from }: { readonly to: MasterKey; readonly from: MasterKey },
): AsyncGenerator<RotationProgress> {
  for (const table of secretTables) {
    const unreadable: string[] = []
    const read = `SELECT id, person, key_id, sealed FROM ${table} WHERE key_id <> ? AND id > ? ORDER BY id LIMIT ?`
    let done = 0
    for (let after = ""; ;) {
      const rows = await engine.query<Row>(read, [to.id, after, PAGE])
      const statements: Statement[] = []
      for (const row of rows) {
        const statement = toStatement({ table, row, to, old: row.key_id === from.id ? from : undefined })
        if (statement) statements.push(statement)
        else unreadable.push(row.id)
      }
      if (statements.length > 0) await engine.change({ type: "statements", statements })
      done += statements.length
      yield { table, done, unreadable }
      const last = rows.at(-1)
      if (!last || rows.length < PAGE) break
      after = last.id
    }
  }
}

interface OneRow {
  readonly table: string
  readonly row: Row
  readonly to: MasterKey
  readonly old: MasterKey | undefined
}

/** Encrypts one row with the new key; undefined if it cannot be decrypted. */
function toStatement({ table, row, to, old }: OneRow): Statement | undefined {
  const secretRow: SecretRow = { table, id: row.id, person: row.person }
  const text = old && decryptForRow(old, secretRow, { keyId: row.key_id, sealed: row.sealed })
  if (text === undefined) return undefined
  const next = encryptForRow(to, secretRow, text)
  // A secret that was saved in the meantime already uses the new key, and must not be overwritten.
  const sql = `UPDATE ${table} SET key_id = ?, sealed = ? WHERE id = ? AND sealed = ?`
  return { sql, values: [next.keyId, next.sealed, row.id, row.sealed] }
}

/** How many secrets use other keys. */
export async function countOtherKeys(engine: Engine, { id }: MasterKey): Promise<number> {
  const counts = secretTables.map(async (table) => {
    const sql = `SELECT count(*) AS n FROM ${table} WHERE key_id <> ?`
    return (await engine.query<{ n: number }>(sql, [id]))[0]?.n ?? 0
  })
  return (await Promise.all(counts)).reduce((sum, n) => sum + n, 0)
}
