import { failure } from "../../protocol/errors.ts"
import { type McpServerId, newId, type UserId } from "../../protocol/ids.ts"
import type { McpTarget, StoredMcpServer } from "../../engine/mcp.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { type EncryptedColumns, EncryptedRows } from "../people/encrypted-rows.ts"
import type { Secrets } from "../people/secrets.ts"
import { deleteSignIn } from "./sign-ins.ts"

/** The maximum servers of a person. */
const MAX_SERVERS = 20
const COLUMNS = "id, name, agents, key_id, sealed"

interface Row extends EncryptedColumns {
  readonly id: McpServerId
  readonly name: string
  readonly agents: string
}

/** People's MCP servers. Address and headers are encrypted together. */
export class SqlMcpServers {
  readonly #engine: Engine
  readonly #sealed: EncryptedRows<McpTarget>
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#sealed = new EncryptedRows("mcp_server", engine, secrets)
    this.#now = now
  }

  /** Whether any person has one. */
  async isAny(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 AS one FROM mcp_server LIMIT 1", [])).length > 0
  }

  /** Without those that cannot be decrypted. */
  async list(user: UserId): Promise<StoredMcpServer[]> {
    const sql = `SELECT ${COLUMNS} FROM mcp_server WHERE person = ? ORDER BY name`
    const rows = await this.#engine.query<Row>(sql, [user])
    return (await Promise.all(rows.map((row) => this.#open(user, row)))).flat()
  }

  /** Throws `bad_request` if the name is taken, and `too_many` at the limit. */
  async create(user: UserId, server: Omit<StoredMcpServer, "version">): Promise<void> {
    const { id, name, agents, target } = server
    const now = this.#now()
    const sql = `INSERT INTO mcp_server (id, person, name, agents, key_id, sealed, created_at, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT) WHERE (SELECT count(*) FROM mcp_server WHERE person = ?) < ${MAX_SERVERS}
      ON CONFLICT (person, name) DO NOTHING`
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      return { sql, values: [id, user, name, JSON.stringify(agents), keyId, sealed, now, now, user] }
    })
    const existing = await this.#named(user, name)
    if (existing?.id === id) return
    if (!existing) throw failure("too_many", { what: "MCP servers", most: MAX_SERVERS })
    const isLost = (await this.#open(user, existing)).length === 0
    const problem = isLost
      ? `name: you have a server "${name}" that cannot be opened any more. Remove it, then add it again.`
      : `name: you have a server "${name}" already.`
    throw failure("bad_request", { problem })
  }

  /**
   * Replaces a server, if it is still as it was read: of two concurrent changes one wins, and neither gets the other's
   * secrets. With a new id its tools need a new approval, and are shown next to their previous versions.
   */
  async change(user: UserId, before: StoredMcpServer, server: Omit<StoredMcpServer, "version">): Promise<boolean> {
    const { id, name, agents, target } = server
    const sql = `UPDATE mcp_server SET id = ?, name = ?, agents = ?, key_id = ?, sealed = ?, updated_at = ?
      WHERE id = ? AND person = ? AND sealed = ?
        AND NOT EXISTS (SELECT 1 FROM mcp_server o WHERE o.person = ? AND o.name = ? AND o.id <> ?)`
    const moved = id === before.id ? [] : this.#moveTools(user, before.id, id)
    let newSealed = ""
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      newSealed = sealed
      const now = [name, JSON.stringify(agents), keyId, sealed, this.#now()]
      return [{ sql, values: [id, ...now, before.id, user, before.version, user, name, before.id] }, ...moved]
    })
    const rows = await this.#engine.query("SELECT 1 AS one FROM mcp_server WHERE id = ? AND sealed = ?", [
      id,
      newSealed,
    ])
    return rows.length > 0
  }

  #moveTools(user: UserId, from: McpServerId, to: McpServerId): Statement[] {
    const isThere = "EXISTS (SELECT 1 FROM mcp_server WHERE id = ?)"
    const tools = `UPDATE mcp_tool SET server = ?, rule = NULL, again = 0,
      agreed_hash = CASE WHEN agreed_hash IS NULL THEN NULL ELSE 'moved' END WHERE server = ? AND person = ? AND ${isThere}`
    const signedIn = deleteSignIn(user, from).map(({ sql, values }) => {
      return { sql: `${sql} AND ${isThere}`, values: [...values, to] }
    })
    return [{ sql: tools, values: [to, from, user, to] }, ...signedIn]
  }

  /**
   * Deletes a server by name, with its tools and sign-ins, also one that cannot be decrypted and is in no list. Throws
   * `not_found`.
   */
  async remove(user: UserId, name: string): Promise<void> {
    const { id } = (await this.#named(user, name)) ?? {}
    if (id === undefined) throw failure("not_found")
    const tools = { sql: "DELETE FROM mcp_tool WHERE server = ? AND person = ?", values: [id, user] }
    await this.#sealed.remove(user, id, [tools, ...deleteSignIn(user, id)])
  }

  newId(user: UserId): McpServerId {
    return newId("mcp", user, this.#now())
  }

  async #named(user: UserId, name: string): Promise<Row | undefined> {
    const sql = `SELECT ${COLUMNS} FROM mcp_server WHERE person = ? AND name = ?`
    return (await this.#engine.query<Row>(sql, [user, name]))[0]
  }

  async #open(user: UserId, row: Row): Promise<StoredMcpServer[]> {
    const { id, name, agents, sealed } = row
    const target = await this.#sealed.open(user, id, row)
    return target ? [{ id, name, agents: JSON.parse(agents) as string[], target, version: sealed }] : []
  }
}
