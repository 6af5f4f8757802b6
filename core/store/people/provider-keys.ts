import { createHash } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { EndpointFacts } from "../../protocol/models/providers.ts"
import type { Engine } from "../engine/engine.ts"
import { type EncryptedColumns, EncryptedRows } from "./encrypted-rows.ts"
import type { Secrets } from "./secrets.ts"

/** A person's access to a provider. */
export interface ProviderKey {
  readonly apiKey?: string
  readonly baseUrl?: string
  /** Further fields that the provider needs, by name. */
  readonly fields?: Readonly<Record<string, string>>
  /** Facts about an endpoint that the person has named, in place of a provider. */
  readonly endpoint?: EndpointFacts
}

/** A person's access, still encrypted: decrypting takes time and is needed only after a change. */
export interface StoredAccess {
  /** Changes with every change of the content. */
  readonly version: string
  /** By provider; `unreadable` if the master key does not match or the row was tampered with. */
  open(): Promise<ReadonlyMap<string, ProviderKey | "unreadable">>
}

/** The maximum number per person, not counting these names. */
export interface KeyLimit {
  readonly most: number
  readonly besides: readonly string[]
}

interface Row extends EncryptedColumns {
  readonly id: string
  readonly provider: string
}

/** People's provider keys. Key and address are encrypted together. */
export class SqlProviderKeys {
  readonly #engine: Engine
  readonly #sealed: EncryptedRows<ProviderKey>
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#sealed = new EncryptedRows("provider_key", engine, secrets)
    this.#now = now
  }

  async read(user: UserId): Promise<StoredAccess> {
    const sql = "SELECT id, provider, key_id, sealed FROM provider_key WHERE person = ? ORDER BY provider"
    const rows = await this.#engine.query<Row>(sql, [user]).catch((error: Error) => {
      throw failure("store_unavailable", { problem: error.message })
    })
    return {
      // Ciphertexts never repeat, so they identify a version. Hashed, because it is cached for each active person.
      version: rows.length === 0 ? "" : versionOf(rows),
      open: async () => new Map(await Promise.all(rows.map((row) => this.#open(user, row)))),
    }
  }

  /** Stores access in place of any previous one. False if the limit is exceeded. */
  async put(user: UserId, provider: string, access: ProviderKey, limit?: KeyLimit): Promise<boolean> {
    const id = idOf(user, provider)
    const { most = Number.MAX_SAFE_INTEGER, besides = [] } = limit ?? {}
    const uncounted = besides.length > 0 ? `AND provider NOT IN (${besides.map(() => "?").join(", ")})` : ""
    // Counted in the same statement, so that the second of two concurrent writes sees the first.
    const sql = `INSERT INTO provider_key (id, person, provider, key_id, sealed, updated_at)
      SELECT ?, ?, ?, ?, ?, CAST(? AS BIGINT)
      WHERE (SELECT count(*) FROM provider_key WHERE person = ? AND id <> ? ${uncounted}) < ${most}
      ON CONFLICT (id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`
    await this.#sealed.write(user, id, access, ({ keyId, sealed }) => {
      return { sql, values: [id, user, provider, keyId, sealed, this.#now(), user, id, ...besides] }
    })
    return !limit || (await this.#sealed.has(user, id))
  }

  /** Throws `not_found` if there is none. */
  async remove(user: UserId, provider: string): Promise<void> {
    await this.#sealed.remove(user, idOf(user, provider))
  }

  async #open(user: UserId, row: Row): Promise<[string, ProviderKey | "unreadable"]> {
    const { id, provider } = row
    // Computed from the request and not from the row, which may have been moved.
    if (id !== idOf(user, provider)) return [provider, "unreadable"]
    return [provider, (await this.#sealed.open(user, id, row)) ?? "unreadable"]
  }
}

const versionOf = (rows: readonly Row[]): string =>
  rows
    .reduce((sum, { provider, sealed }) => sum.update(`${provider} ${sealed}\n`), createHash("sha256"))
    .digest("base64")

const idOf = (user: UserId, provider: string): string => `${user}.${provider}`
