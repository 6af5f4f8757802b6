import type { Engine } from "../engine/engine.ts"
import type { MasterKey } from "./master-keys.ts"
import type { Statement } from "../engine/operations.ts"
import { type SecretRow, seal, unseal } from "./seal.ts"

/** Every table that keeps secrets, each with the columns `id`, `person`, `key_id` and `sealed`. */
export const sealedTables: readonly string[] = [
  "provider_key",
  "connection",
  "mcp_server",
  "mcp_sign_in",
  "mcp_sign_in_attempt",
]

export interface Rotated {
  readonly table: string
  /** Secrets that are under the new key now. */
  readonly done: number
  /** Secrets that nothing we have can open: they stay as they are. */
  readonly unreadable: readonly string[]
}

type Row = { readonly id: string; readonly person: string; readonly key_id: string; readonly sealed: string }

/** Rows in one change: few enough that whoever saves a secret meanwhile does not wait. */
const PAGE = 20

/**
 * Puts every secret under a new key, after `Secrets.changeOver`, and tells how far it is. It can be killed and begun
 * anew at any point: each row is under the one key or the other, and says which.
 */
export async function* rotateSecrets(
  engine: Engine,
  { to, from }: { readonly to: MasterKey; readonly from: MasterKey },
): AsyncGenerator<Rotated> {
  for (const table of sealedTables) {
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

/** Puts one row under the new key; undefined where it cannot be opened. */
function toStatement({ table, row, to, old }: OneRow): Statement | undefined {
  const place: SecretRow = { table, id: row.id, person: row.person }
  const text = old && unseal(old, place, { keyId: row.key_id, sealed: row.sealed })
  if (text === undefined) return undefined
  const next = seal(to, place, text)
  // Whoever has saved a new secret meanwhile has done it under the new key, and theirs is the one that counts.
  const sql = `UPDATE ${table} SET key_id = ?, sealed = ? WHERE id = ? AND sealed = ?`
  return { sql, values: [next.keyId, next.sealed, row.id, row.sealed] }
}

/** How many secrets are not under this key. */
export async function countOthers(engine: Engine, { id }: MasterKey): Promise<number> {
  const counts = sealedTables.map(async (table) => {
    const sql = `SELECT count(*) AS n FROM ${table} WHERE key_id <> ?`
    return (await engine.query<{ n: number }>(sql, [id]))[0]?.n ?? 0
  })
  return (await Promise.all(counts)).reduce((sum, n) => sum + n, 0)
}
