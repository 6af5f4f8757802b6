import { createHash } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { EndpointFacts } from "../../protocol/models/own-endpoint.ts"
import type { Engine } from "../engine/engine.ts"
import type { SecretRow } from "./seal.ts"
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

interface Row {
  readonly id: string
  readonly provider: string
  readonly key_id: string
  readonly sealed: string
}

/**
 * The provider keys of people. Key and address are one secret: whoever can change the database, but has no master key,
 * cannot make a key be sent to an address of their own.
 */
export class SqlProviderKeys {
  readonly #engine: Engine
  readonly #secrets: Secrets
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#secrets = secrets
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
    const place = placeOf(user, provider)
    const { most = Number.MAX_SAFE_INTEGER, besides = [] } = limit ?? {}
    const uncounted = besides.length > 0 ? `AND provider NOT IN (${besides.map(() => "?").join(", ")})` : ""
    // Counted as it is stored, where writers of secrets follow each other: of two at once the second sees the first.
    const sql = `INSERT INTO provider_key (id, person, provider, key_id, sealed, updated_at)
      SELECT ?, ?, ?, ?, ?, CAST(? AS BIGINT)
      WHERE (SELECT count(*) FROM provider_key WHERE person = ? AND id <> ? ${uncounted}) < ${most}
      ON CONFLICT (id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`
    await this.#secrets.write(place, JSON.stringify(access), ({ keyId, sealed }) => {
      return { sql, values: [place.id, user, provider, keyId, sealed, this.#now(), user, place.id, ...besides] }
    })
    if (!limit) return true
    const stored = "SELECT id FROM provider_key WHERE id = ? AND person = ?"
    return (await this.#engine.query(stored, [place.id, user])).length > 0
  }

  /** Throws `not_found` where there was nothing. */
  async remove(user: UserId, provider: string): Promise<void> {
    const sql = "DELETE FROM provider_key WHERE id = ? AND person = ?"
    const values = [placeOf(user, provider).id, user]
    const { ok } = await this.#engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })
    if (!ok) throw failure("not_found")
  }

  async #open(
    user: UserId,
    { id, provider, key_id: keyId, sealed }: Row,
  ): Promise<[string, ProviderKey | "unreadable"]> {
    // Its place is told by what was asked for and not by the row, which may have been moved here from elsewhere.
    const place = placeOf(user, provider)
    if (id !== place.id) return [provider, "unreadable"]
    return [provider, (await this.#secrets.read<ProviderKey>(place, { keyId, sealed })) ?? "unreadable"]
  }
}

const versionOf = (rows: readonly Row[]): string =>
  rows
    .reduce((sum, { provider, sealed }) => sum.update(`${provider} ${sealed}\n`), createHash("sha256"))
    .digest("base64")

const placeOf = (user: UserId, provider: string): SecretRow => {
  return { table: "provider_key", id: `${user}.${provider}`, person: user }
}
