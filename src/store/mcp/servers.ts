import { failure } from "../../protocol/errors.ts"
import { type McpServerId, newId, type UserId } from "../../protocol/ids.ts"
import type { McpTarget, StoredMcpServer } from "../../protocol/ports/mcp.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { SecretRow } from "../people/seal.ts"
import type { Secrets } from "../people/secrets.ts"
import { withoutSignIn } from "./sign-ins.ts"

/** Servers that one person may have. */
const MAX = 20

interface Row {
  readonly id: McpServerId
  readonly name: string
  readonly agents: string
  readonly key_id: string
  readonly sealed: string
}

/**
 * MCP servers of people. Address and headers are one secret: whoever can change our database, but has no master key, cannot
 * make a token be sent to an address of their own.
 */
export class SqlMcpServers {
  readonly #engine: Engine
  readonly #secrets: Secrets
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#secrets = secrets
    this.#now = now
  }

  /** Whether anybody has one at all. */
  async isAny(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 AS one FROM mcp_server LIMIT 1", [])).length > 0
  }

  /** Without those that cannot be opened: their master key is another one. */
  async list(user: UserId): Promise<StoredMcpServer[]> {
    const sql = "SELECT id, name, agents, key_id, sealed FROM mcp_server WHERE person = ? ORDER BY name"
    const rows = await this.#engine.query<Row>(sql, [user])
    return (await Promise.all(rows.map((row) => this.#open(user, row)))).flat()
  }

  /** Throws `bad_request` where there is one of that name, and `too_many` where they have as many as one may have. */
  async create(user: UserId, server: Omit<StoredMcpServer, "version">): Promise<void> {
    const { id, name, agents, target } = server
    const now = this.#now()
    const sql = `INSERT INTO mcp_server (id, person, name, agents, key_id, sealed, created_at, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, ${now}, ${now} WHERE (SELECT count(*) FROM mcp_server WHERE person = ?) < ${MAX}
      ON CONFLICT (person, name) DO NOTHING`
    await this.#secrets.write(placeOf(user, id), JSON.stringify(target), ({ keyId, sealed }) => {
      return { sql, values: [id, user, name, JSON.stringify(agents), keyId, sealed, user] }
    })
    const names = (await this.list(user)).map((each) => (each.id === id ? undefined : each.name))
    if (names.includes(undefined)) return
    if (names.includes(name)) throw failure("bad_request", { problem: `name: you have a server "${name}" already.` })
    throw failure("too_many", { what: "MCP servers", most: MAX })
  }

  /**
   * Puts a whole server in place of what was read, if that is still there: of two at once one wins, and neither gets the
   * other's secrets. Under another id it keeps of its tools only what they were, to be shown beside what they are.
   */
  async change(user: UserId, before: StoredMcpServer, server: Omit<StoredMcpServer, "version">): Promise<boolean> {
    const { id, name, agents, target } = server
    const sql = `UPDATE mcp_server SET id = ?, name = ?, agents = ?, key_id = ?, sealed = ?, updated_at = ?
      WHERE id = ? AND person = ? AND sealed = ?
        AND NOT EXISTS (SELECT 1 FROM mcp_server o WHERE o.person = ? AND o.name = ? AND o.id <> ?)`
    const moved = id === before.id ? [] : this.#moved(user, before.id, id)
    let written = ""
    await this.#secrets.write(placeOf(user, id), JSON.stringify(target), ({ keyId, sealed }) => {
      written = sealed
      const now = [name, JSON.stringify(agents), keyId, sealed, this.#now()]
      return [{ sql, values: [id, ...now, before.id, user, before.version, user, name, before.id] }, ...moved]
    })
    const rows = await this.#engine.query("SELECT 1 AS one FROM mcp_server WHERE id = ? AND sealed = ?", [id, written])
    return rows.length > 0
  }

  #moved(user: UserId, from: McpServerId, to: McpServerId): Statement[] {
    const isThere = "EXISTS (SELECT 1 FROM mcp_server WHERE id = ?)"
    const tools = `UPDATE mcp_tool SET server = ?, rule = NULL, again = 0,
      agreed_hash = CASE WHEN agreed_hash IS NULL THEN NULL ELSE 'moved' END WHERE server = ? AND person = ? AND ${isThere}`
    const signedIn = withoutSignIn(user, from).map(({ sql, values }) => {
      return { sql: `${sql} AND ${isThere}`, values: [...values, to] }
    })
    return [{ sql: tools, values: [to, from, user, to] }, ...signedIn]
  }

  /** With what was decided about its tools, and what was signed in for. Throws `not_found` where there was nothing. */
  async remove(user: UserId, id: McpServerId): Promise<void> {
    const statements = [
      { sql: "DELETE FROM mcp_server WHERE id = ? AND person = ?", values: [id, user], mustChange: true as const },
      { sql: "DELETE FROM mcp_tool WHERE server = ? AND person = ?", values: [id, user] },
      ...withoutSignIn(user, id),
    ]
    const { ok } = await this.#engine.change({ type: "statements", statements })
    if (!ok) throw failure("not_found")
  }

  newId(user: UserId): McpServerId {
    return newId("mcp", user, this.#now())
  }

  async #open(user: UserId, { id, name, agents, key_id: keyId, sealed }: Row): Promise<StoredMcpServer[]> {
    const target = await this.#secrets.read<McpTarget>(placeOf(user, id), { keyId, sealed })
    return target ? [{ id, name, agents: JSON.parse(agents) as string[], target, version: sealed }] : []
  }
}

const placeOf = (user: UserId, id: McpServerId): SecretRow => ({ table: "mcp_server", id, person: user })
