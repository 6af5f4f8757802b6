import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { Sealed, SecretRow } from "./seal.ts"
import type { Secrets } from "./secrets.ts"

/** The columns of a row that hold its secret. */
export interface SealedColumns {
  readonly key_id: string
  readonly sealed: string
}

/**
 * The rows of a table that each belong to a person and hold one secret: all by which something of theirs is reached.
 * Whoever can change the database, but has no master key, cannot make a password be sent to an address of their own.
 */
export class SealedRows<Content> {
  readonly #table: string
  readonly #engine: Engine
  readonly #secrets: Secrets

  constructor(table: string, engine: Engine, secrets: Secrets) {
    this.#table = table
    this.#engine = engine
    this.#secrets = secrets
  }

  /** What is sealed in a row; undefined where its master key is another one, or it was made for another row. */
  open(user: UserId, id: string, { key_id: keyId, sealed }: SealedColumns): Promise<Content | undefined> {
    return this.#secrets.read<Content>(this.#place(user, id), { keyId, sealed })
  }

  /** Writers of secrets follow each other: what a statement counts in its own condition, nobody adds to meanwhile. */
  write(
    user: UserId,
    id: string,
    content: Content,
    toStatements: (sealed: Sealed) => Statement | readonly Statement[],
  ): Promise<void> {
    return this.#secrets.write(this.#place(user, id), JSON.stringify(content), toStatements)
  }

  async has(user: UserId, id: string): Promise<boolean> {
    const sql = `SELECT 1 AS one FROM ${this.#table} WHERE id = ? AND person = ?`
    return (await this.#engine.query(sql, [id, user])).length > 0
  }

  /** With what else goes along. Throws `not_found` where there was nothing: then nothing else goes either. */
  async remove(user: UserId, id: string, along: readonly Statement[] = []): Promise<void> {
    const sql = `DELETE FROM ${this.#table} WHERE id = ? AND person = ?`
    const statements = [{ sql, values: [id, user], mustChange: true as const }, ...along]
    const { ok } = await this.#engine.change({ type: "statements", statements })
    if (!ok) throw failure("not_found")
  }

  #place(user: UserId, id: string): SecretRow {
    return { table: this.#table, id, person: user }
  }
}
