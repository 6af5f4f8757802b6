import { failure, hasCode } from "../../protocol/errors.ts"
import type { Engine } from "../engine/engine.ts"
import type { MasterKey, MasterKeys } from "./master-keys.ts"
import type { Statement } from "../engine/operations.ts"
import { type Sealed, type SecretRow, seal, unseal } from "./seal.ts"

/** How often a rotation may come in between before something else is wrong. */
const ATTEMPTS = 5
const CURRENT = "current"

/**
 * Secrets of people, encrypted at rest and bound to their row. Which key new ones are under is said by the database, not
 * by a process: all nodes change over in the same moment, and each has both keys by then.
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

  /** Seals a text and stores it with the statements that are made for it, in one change. */
  async write(
    row: SecretRow,
    text: string,
    toStatements: (sealed: Sealed) => Statement | readonly Statement[],
  ): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const key = await this.currentKey()
      const statements = [this.#under(key), toStatements(seal(key, row, text))].flat()
      const { ok } = await this.#engine.change({ type: "statements", statements })
      if (ok) return
    }
    throw failure("store_unavailable", { problem: "the master key kept changing" })
  }

  /** The text of a row. Throws `secret_unreadable` where it was not sealed for this row, or its key is not here. */
  async open(row: SecretRow, sealed: Sealed): Promise<string> {
    const key = await this.#keys?.find(sealed.keyId)
    const text = key && unseal(key, row, sealed)
    if (text === undefined) throw failure("secret_unreadable", { id: row.id })
    return text
  }

  /** What was sealed as JSON for a row; undefined where it cannot be opened, and its person has to give it again. */
  async read<T>(row: SecretRow, sealed: Sealed): Promise<T | undefined> {
    try {
      return JSON.parse(await this.open(row, sealed)) as T
    } catch (error) {
      if (hasCode(error, "secret_unreadable")) return undefined
      throw error
    }
  }

  /**
   * Says which key the database is under, where nobody has: ours. Rejects where it is another one, for two nodes whose keys
   * differ cannot open each other's secrets. A server calls it when it starts, a command that is run beside it does not.
   */
  async claim(): Promise<void> {
    if (!this.#keys) return
    const [still] = this.#under(await this.currentKey())
    await this.#engine.change({ type: "statements", statements: [still as Statement] })
    await this.currentKey() // of two that say it at once, one was first
  }

  /** Whether the database is under a key that this process has, or under none yet. Changes nothing. */
  async isOurs(): Promise<boolean> {
    const [row] = await this.#current()
    return !row || (await this.#keys?.find(row.key_id)) !== undefined
  }

  /** The key that new secrets are under, as the database says. Throws `no_master_key` if this process does not have it. */
  async currentKey(): Promise<MasterKey> {
    if (!this.#keys) throw failure("no_master_key", { problem: "this process was given none" })
    const [row] = await this.#current()
    if (!row) return this.#keys.first()
    const key = await this.#keys.find(row.key_id)
    // A second key would split the secrets between nodes that cannot open each other's.
    if (!key) throw failure("no_master_key", { problem: `the database is under the key ${row.key_id}, not under ours` })
    return key
  }

  /** All keys that this process has. */
  async allKeys(): Promise<readonly MasterKey[]> {
    return (await this.#keys?.all()) ?? []
  }

  /** Makes a key the current one. Nothing can be written under another from now on. */
  async changeOver(to: MasterKey): Promise<void> {
    const sql = `INSERT INTO master_key (name, key_id, changed_at) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET key_id = excluded.key_id, changed_at = excluded.changed_at`
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [CURRENT, to.id, this.#now()] }] })
  }

  /** Holds the current key still until the change is done; where it is another one by now, nothing is changed. */
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
