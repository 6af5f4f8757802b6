import { randomUUID } from "node:crypto"
import type { UserId } from "../../protocol/ids.ts"
import type { McpSignIn, McpSignInAttempt, McpSignIns, StoredMcpSignIn } from "../../engine/mcp.ts"
import type { McpSignInState } from "../../protocol/mcp-servers.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { secretHash } from "../people/hashed-secret.ts"
import type { EncryptedSecret, SecretRow } from "../people/row-encryption.ts"
import type { Secrets } from "../people/secrets.ts"

interface Row {
  readonly state: McpSignInState
  readonly version: string
  readonly key_id: string
  readonly sealed: string
}

/** People's sign-ins at MCP servers. Tokens, client identity and address are encrypted together. */
export class SqlMcpSignIns implements McpSignIns {
  readonly #engine: Engine
  readonly #secrets: Secrets
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#secrets = secrets
    this.#now = now
  }

  async states(user: UserId): Promise<Map<string, McpSignInState>> {
    const sql = "SELECT server, state FROM mcp_sign_in WHERE person = ?"
    const rows = await this.#engine.query<{ server: string; state: McpSignInState }>(sql, [user])
    return new Map(rows.map(({ server, state }) => [server, state]))
  }

  /** Undefined also if it cannot be decrypted; then the person signs in again. */
  async read(user: UserId, server: string): Promise<StoredMcpSignIn | undefined> {
    const row = await this.#row(user, server)
    if (!row) return undefined
    const { state, version, key_id: keyId, sealed } = row
    const signIn = await this.#secrets.read<McpSignIn>(secretRowOf("mcp_sign_in", user, server), { keyId, sealed })
    return signIn && { ...signIn, state, version }
  }

  /** `over`: the version that was read. A newer one is not overwritten. */
  async put(
    user: UserId,
    server: string,
    { url, challenge, granted, state }: Omit<StoredMcpSignIn, "version">,
    over?: string,
  ): Promise<boolean> {
    const secretRow = secretRowOf("mcp_sign_in", user, server)
    const text = JSON.stringify({ url, challenge, granted } satisfies Partial<McpSignIn>)
    const version = randomUUID()
    const row = { secretRow, server, state, version, over }
    await this.#secrets.write(secretRow, text, (sealed) => this.#toUpsert(row, sealed))
    return (await this.#row(user, server))?.version === version
  }

  async claim(
    user: UserId,
    server: string,
    { version, until }: { readonly version: string; readonly until: number },
  ): Promise<boolean> {
    const sql = "UPDATE mcp_sign_in SET renewed_until = ? WHERE id = ? AND version = ? AND renewed_until <= ?"
    const values = [until, idOf(user, server), version, this.#now()]
    return (await this.#change([{ sql, values, mustChange: true }])).ok
  }

  async giveUp(user: UserId, server: string, version: string): Promise<void> {
    const sql = "UPDATE mcp_sign_in SET renewed_until = 0 WHERE id = ? AND version = ?"
    await this.#change([{ sql, values: [idOf(user, server), version] }])
  }

  async remove(user: UserId, server: string): Promise<void> {
    await this.#change(deleteSignIn(user, server))
  }

  async begin(user: UserId, state: string, attempt: McpSignInAttempt, expiresAt: number): Promise<void> {
    const { server } = attempt
    const secretRow = secretRowOf("mcp_sign_in_attempt", user, server)
    const tidy = { sql: "DELETE FROM mcp_sign_in_attempt WHERE expires_at <= ?", values: [this.#now()] }
    const sql = `INSERT INTO mcp_sign_in_attempt (id, person, server, hash, key_id, sealed, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, key_id = excluded.key_id,
      sealed = excluded.sealed, expires_at = excluded.expires_at`
    await this.#secrets.write(secretRow, JSON.stringify(attempt), ({ keyId, sealed }) => {
      return [tidy, { sql, values: [secretRow.id, user, server, secretHash(state), keyId, sealed, expiresAt] }]
    })
  }

  async finish(user: UserId, state: string): Promise<McpSignInAttempt | undefined> {
    const values = [user, secretHash(state), this.#now()]
    const where = "person = ? AND hash = ? AND expires_at > ?"
    const read = `SELECT server, key_id, sealed FROM mcp_sign_in_attempt WHERE ${where}`
    const [row] = await this.#engine.query<{ server: string; key_id: string; sealed: string }>(read, values)
    if (!row) return undefined
    const used = { sql: `DELETE FROM mcp_sign_in_attempt WHERE ${where}`, values, mustChange: true as const }
    if (!(await this.#change([used])).ok) return undefined
    const secretRow = secretRowOf("mcp_sign_in_attempt", user, row.server)
    return this.#secrets.read<McpSignInAttempt>(secretRow, { keyId: row.key_id, sealed: row.sealed })
  }

  #toUpsert(
    {
      secretRow,
      server,
      state,
      version,
      over,
    }: { secretRow: SecretRow; server: string; state: string; version: string; over: string | undefined },
    { keyId, sealed }: EncryptedSecret,
  ): Statement {
    const now = this.#now()
    if (over !== undefined && over !== "none") {
      const sql = `UPDATE mcp_sign_in SET state = ?, version = ?, renewed_until = 0, key_id = ?, sealed = ?, updated_at = ?
        WHERE id = ? AND version = ?`
      return { sql, values: [state, version, keyId, sealed, now, secretRow.id, over] }
    }
    const overwrite = `DO UPDATE SET state = excluded.state, version = excluded.version, renewed_until = 0,
      key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`
    const sql = `INSERT INTO mcp_sign_in (id, person, server, state, version, renewed_until, key_id, sealed, updated_at)
      VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (id) ${over === "none" ? "DO NOTHING" : overwrite}`
    return { sql, values: [secretRow.id, secretRow.person, server, state, version, keyId, sealed, now] }
  }

  async #row(user: UserId, server: string): Promise<Row | undefined> {
    const sql = "SELECT state, version, key_id, sealed FROM mcp_sign_in WHERE id = ? AND person = ?"
    return (await this.#engine.query<Row>(sql, [idOf(user, server), user]))[0]
  }

  #change(statements: readonly Statement[]) {
    return this.#engine.change({ type: "statements", statements })
  }
}

/** Deletes everything about a person's sign-in at a server. */
export const deleteSignIn = (user: UserId, server: string): Statement[] =>
  ["mcp_sign_in", "mcp_sign_in_attempt"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE id = ?`,
    values: [idOf(user, server)],
  }))

const idOf = (user: UserId, server: string): string => `${user}.${server}`

const secretRowOf = (table: string, user: UserId, server: string): SecretRow => {
  return { table, id: idOf(user, server), person: user }
}
