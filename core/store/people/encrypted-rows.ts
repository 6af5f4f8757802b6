import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { EncryptedSecret, SecretRow } from "./row-encryption.ts"
import type { Secrets } from "./secrets.ts"

/** The columns of an encrypted secret. */
export interface EncryptedColumns {
  readonly key_id: string
  readonly sealed: string
}

/**
 * The rows of a table with one encrypted secret of a person each. An attacker who can change the database but lacks the
 * master key cannot redirect a password to another address.
 */
export class EncryptedRows<Content> {
  readonly #table: string
  readonly #engine: Engine
  readonly #secrets: Secrets

  constructor(table: string, engine: Engine, secrets: Secrets) {
    this.#table = table
    this.#engine = engine
    this.#secrets = secrets
  }

  /** Decrypts a row; undefined if its master key is missing or it was encrypted for another row. */
  open(user: UserId, id: string, { key_id: keyId, sealed }: EncryptedColumns): Promise<Content | undefined> {
    return this.#secrets.read<Content>(this.#rowOf(user, id), { keyId, sealed })
  }

  /** Writers of secrets are serialized, so a statement may count rows in its condition. */
  write(
    user: UserId,
    id: string,
    content: Content,
    toStatements: (sealed: EncryptedSecret) => Statement | readonly Statement[],
  ): Promise<void> {
    return this.#secrets.write(this.#rowOf(user, id), JSON.stringify(content), toStatements)
  }

  async has(user: UserId, id: string): Promise<boolean> {
    const sql = `SELECT 1 AS one FROM ${this.#table} WHERE id = ? AND person = ?`
    return (await this.#engine.query(sql, [id, user])).length > 0
  }

  /** Deletes a row together with related ones. Throws `not_found`, and deletes nothing, if it does not exist. */
  async remove(user: UserId, id: string, related: readonly Statement[] = []): Promise<void> {
    const sql = `DELETE FROM ${this.#table} WHERE id = ? AND person = ?`
    const statements = [{ sql, values: [id, user], mustChange: true as const }, ...related]
    const { ok } = await this.#engine.change({ type: "statements", statements })
    if (!ok) throw failure("not_found")
  }

  #rowOf(user: UserId, id: string): SecretRow {
    return { table: this.#table, id, person: user }
  }
}
