import { failure, hasCode } from "../../protocol/errors.ts"
import type { Engine } from "../engine/engine.ts"
import type { MasterKey, MasterKeys } from "./master-keys.ts"
import type { Statement } from "../engine/operations.ts"
import { type EncryptedSecret, type SecretRow, encryptForRow, decryptForRow } from "./row-encryption.ts"

/** How often a rotation may interfere before something else must be wrong. */
const ATTEMPTS = 5
const CURRENT = "current"

/**
 * People's secrets, encrypted and bound to their rows. The database stores which key is current, so all nodes change to
 * a new key at the same moment.
 */
export class Secrets {
  readonly #engine: Engine
  readonly #keys: MasterKeys | undefined
  readonly #now: () => number

  constructor(engine: Engine, keys: MasterKeys | undefined, now: () => number) {
    this.#engine = engine
    this.#keys = keys
    this.#now = now
  }

  /** Encrypts a text and stores it with these statements in one change. */
  async write(
    row: SecretRow,
    text: string,
    toStatements: (sealed: EncryptedSecret) => Statement | readonly Statement[],
  ): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const key = await this.currentKey()
      const statements = [this.#under(key), toStatements(encryptForRow(key, row, text))].flat()
      const { ok } = await this.#engine.change({ type: "statements", statements })
      if (ok) return
    }
    throw failure("store_unavailable", { problem: "the master key kept changing" })
  }

  /** Decrypts a row's secret. Throws `secret_unreadable` if it belongs to another row or its key is missing. */
  async open(row: SecretRow, sealed: EncryptedSecret): Promise<string> {
    const key = await this.#keys?.find(sealed.keyId)
    const text = key && decryptForRow(key, row, sealed)
    if (text === undefined) throw failure("secret_unreadable", { id: row.id })
    return text
  }

  /** Decrypts JSON; undefined if that is impossible and its person must provide it again. */
  async read<T>(row: SecretRow, sealed: EncryptedSecret): Promise<T | undefined> {
    try {
      return JSON.parse(await this.open(row, sealed)) as T
    } catch (error) {
      if (hasCode(error, "secret_unreadable")) return undefined
      throw error
    }
  }

  /**
   * Records our key as the current one if there is none. Rejects if another key is current, because such nodes could
   * not decrypt each other's secrets. A server calls it when it starts; commands do not.
   */
  async claim(): Promise<void> {
    if (!this.#keys) return
    const [still] = this.#under(await this.currentKey())
    await this.#engine.change({ type: "statements", statements: [still as Statement] })
    await this.currentKey() // if two nodes did this at once, one was first
  }

  /** Whether this process has the current key, or there is none yet. Changes nothing. */
  async isOurs(): Promise<boolean> {
    const [row] = await this.#current()
    return !row || (await this.#keys?.find(row.key_id)) !== undefined
  }

  /** The current key. Throws `no_master_key` if this process does not have it. */
  async currentKey(): Promise<MasterKey> {
    if (!this.#keys) throw failure("no_master_key", { problem: "this process was given none" })
    const [row] = await this.#current()
    if (!row) return this.#keys.first()
    const key = await this.#keys.find(row.key_id)
    // With a second key, some nodes could not decrypt the secrets of others.
    if (!key) throw failure("no_master_key", { problem: `the database is under the key ${row.key_id}, not under ours` })
    return key
  }

  async allKeys(): Promise<readonly MasterKey[]> {
    return (await this.#keys?.all()) ?? []
  }

  /** Makes a key the current one. From now on nothing can be written with another. */
  async changeOver(to: MasterKey): Promise<void> {
    const sql = `INSERT INTO master_key (name, key_id, changed_at) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET key_id = excluded.key_id, changed_at = excluded.changed_at`
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [CURRENT, to.id, this.#now()] }] })
  }

  /** Locks the current key until the change is done. If another key is current by now, nothing is changed. */
  #under({ id }: MasterKey): Statement[] {
    const first = "INSERT INTO master_key (name, key_id, changed_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING"
    const still = "UPDATE master_key SET key_id = key_id WHERE name = ? AND key_id = ?"
    return [
      { sql: first, values: [CURRENT, id, this.#now()] },
      { sql: still, values: [CURRENT, id], mustChange: true },
    ]
  }

  #current(): Promise<{ key_id: string }[]> {
    return this.#engine.query<{ key_id: string }>("SELECT key_id FROM master_key WHERE name = ?", [CURRENT])
  }
}
