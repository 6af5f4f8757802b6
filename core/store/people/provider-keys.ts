import { createHash } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { EndpointFacts } from "../../protocol/models/providers.ts"
import type { Engine } from "../engine/engine.ts"
import { type SealedColumns, SealedRows } from "./sealed-rows.ts"
import type { Secrets } from "./secrets.ts"

/** How a person reaches a provider by their own means. */
export interface ProviderKey {
  readonly apiKey?: string
  readonly baseUrl?: string
  /** What else it takes, by name. */
  readonly fields?: Readonly<Record<string, string>>
  /** It is no provider's, but an endpoint to which the person gave this name. */
  readonly endpoint?: EndpointFacts
}

/** What a person has stored, still closed: opening it costs, and is needed only where it has changed. */
export interface StoredAccess {
  /** Another text after every change. */
  readonly version: string
  /** By provider; `unreadable` where the master key does not fit, or the row was tampered with. */
  open(): Promise<ReadonlyMap<string, ProviderKey | "unreadable">>
}

/** How many a person may have, not counting those of these names. */
export interface KeyLimit {
  readonly most: number
  readonly besides: readonly string[]
}

interface Row extends SealedColumns {
  readonly id: string
  readonly provider: string
}

/** The provider keys of people. Key and address are one secret. */
export class SqlProviderKeys {
  readonly #engine: Engine
  readonly #sealed: SealedRows<ProviderKey>
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#sealed = new SealedRows("provider_key", engine, secrets)
    this.#now = now
  }

  async read(user: UserId): Promise<StoredAccess> {
    const sql = "SELECT id, provider, key_id, sealed FROM provider_key WHERE person = ? ORDER BY provider"
    const rows = await this.#engine.query<Row>(sql, [user]).catch((error: Error) => {
      throw failure("store_unavailable", { problem: error.message })
    })
    return {
      // Ciphertexts never repeat, so they tell versions apart. Summed up: it is kept for each person who is at work.
      version: rows.length === 0 ? "" : versionOf(rows),
      open: async () => new Map(await Promise.all(rows.map((row) => this.#open(user, row)))),
    }
  }

  /** Stores what is given in place of whatever was there. False where it would be one more than there can be. */
  async put(user: UserId, provider: string, access: ProviderKey, limit?: KeyLimit): Promise<boolean> {
    const id = idOf(user, provider)
    const { most = Number.MAX_SAFE_INTEGER, besides = [] } = limit ?? {}
    const uncounted = besides.length > 0 ? `AND provider NOT IN (${besides.map(() => "?").join(", ")})` : ""
    // Counted as it is stored: of two at once the second sees the first.
    const sql = `INSERT INTO provider_key (id, person, provider, key_id, sealed, updated_at)
      SELECT ?, ?, ?, ?, ?, CAST(? AS BIGINT)
      WHERE (SELECT count(*) FROM provider_key WHERE person = ? AND id <> ? ${uncounted}) < ${most}
      ON CONFLICT (id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`
    await this.#sealed.write(user, id, access, ({ keyId, sealed }) => {
      return { sql, values: [id, user, provider, keyId, sealed, this.#now(), user, id, ...besides] }
    })
    return !limit || (await this.#sealed.has(user, id))
  }

  /** Throws `not_found` where there was nothing. */
  async remove(user: UserId, provider: string): Promise<void> {
    await this.#sealed.remove(user, idOf(user, provider))
  }

  async #open(user: UserId, row: Row): Promise<[string, ProviderKey | "unreadable"]> {
    const { id, provider } = row
    // Its place is told by what was asked for and not by the row, which may have been moved here from elsewhere.
    if (id !== idOf(user, provider)) return [provider, "unreadable"]
    return [provider, (await this.#sealed.open(user, id, row)) ?? "unreadable"]
  }
}

const versionOf = (rows: readonly Row[]): string =>
  rows
    .reduce((sum, { provider, sealed }) => sum.update(`${provider} ${sealed}\n`), createHash("sha256"))
    .digest("base64")

const idOf = (user: UserId, provider: string): string => `${user}.${provider}`
