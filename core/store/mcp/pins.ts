import type { UserId } from "../../protocol/ids.ts"
import type { McpToolDecision, PinnedFacts, PinnedMcpTool } from "../../engine/mcp.ts"
import type { McpToolRule } from "../../protocol/mcp-servers.ts"
import type { Engine } from "../engine/engine.ts"

interface Row {
  readonly tool: string
  readonly agreed_hash: string | null
  readonly agreed: string | null
  readonly seen_hash: string
  readonly seen: string
  readonly rule: McpToolRule | null
  readonly again: number
}

/** The pinned tools of MCP servers. */
export class SqlMcpPins {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  async read(server: string): Promise<PinnedMcpTool[]> {
    const sql =
      "SELECT tool, agreed_hash, agreed, seen_hash, seen, rule, again FROM mcp_tool WHERE server = ? ORDER BY tool"
    return (await this.#engine.query<Row>(sql, [server])).map(toPinned)
  }

  /**
   * Records what a server offers now. The first list is approved automatically, because the person who added the server
   * wants to use it. Two concurrent first reads may approve two lists, but each tool only as first seen. Approved tools
   * that are missing are stored up to a limit, in case they come back.
   */
  async see(server: string, of: UserId | null, tools: readonly PinnedFacts[]): Promise<void> {
    const known = await this.read(server)
    const names = new Set(tools.map(({ facts }) => facts.tool))
    const absent = known.filter(({ tool }) => !names.has(tool))
    const stored = firstWithin(absent, MAX_ABSENT)
    const removed = absent.filter((pin) => !stored.has(pin))
    const changed = tools.filter(({ hash, facts }) => {
      return known.find(({ tool }) => tool === facts.tool)?.seen.hash !== hash
    })
    const isFirst = known.length === 0
    const statements = [
      ...changed.map(({ hash, facts }) => this.#toUpsert({ server, of, isFirst }, hash, facts)),
      ...removed.map(({ tool, agreed }) => ({ sql: agreed ? DELETE_TOOL : DELETE_UNAPPROVED, values: [server, tool] })),
    ]
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  /**
   * Approves a tool as it was shown, together with its rule, because under the previous rule it might run without
   * asking. False if the tool has changed since. Omitted fields stay, except `again`, which applied to the previous
   * version.
   */
  async agree(server: string, tool: string, { hash, rule, again }: McpToolDecision): Promise<boolean> {
    const sql = `UPDATE mcp_tool SET rule = COALESCE(CAST(? AS TEXT), rule),
      again = COALESCE(CAST(? AS BIGINT), CASE WHEN agreed_hash = seen_hash THEN again ELSE 0 END),
      agreed_hash = seen_hash, agreed = seen, updated_at = ?
      WHERE server = ? AND tool = ? AND seen_hash = ?`
    const againValue = again === undefined ? null : Number(again)
    const values = [rule ?? null, againValue, this.#now(), server, tool, hash]
    const statements = [{ sql, values, mustChange: true as const }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  #toUpsert(
    { server, of, isFirst }: { server: string; of: UserId | null; isFirst: boolean },
    hash: string,
    facts: PinnedFacts["facts"],
  ) {
    const text = JSON.stringify(facts)
    const agreed = isFirst ? [hash, text] : [null, null]
    // A server that was removed in the meantime, perhaps on another node, must not come back.
    const isThere = of === null ? "" : "WHERE EXISTS (SELECT 1 FROM mcp_server WHERE id = ? AND person = ?)"
    const sql = `INSERT INTO mcp_tool (server, tool, person, agreed_hash, agreed, seen_hash, seen, rule, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, ?, NULL, CAST(? AS BIGINT) ${isThere || "WHERE true"}
      ON CONFLICT (server, tool) DO UPDATE SET seen_hash = excluded.seen_hash, seen = excluded.seen, updated_at = excluded.updated_at`
    const values = [server, facts.tool, of, ...agreed, hash, text, this.#now()]
    return { sql, values: of === null ? values : [...values, server, of] }
  }
}

const DELETE_TOOL = "DELETE FROM mcp_tool WHERE server = ? AND tool = ?"
/** Another node may have approved it a moment ago. */
const DELETE_UNAPPROVED = `${DELETE_TOOL} AND agreed_hash IS NULL`

/** The limits of one list of tools, so that a server without tools for a while loses nothing. */
const MAX_ABSENT = { tools: 100, characters: 400_000 }

/** The first approved tools within these limits. */
function firstWithin(absent: readonly PinnedMcpTool[], most: typeof MAX_ABSENT): ReadonlySet<PinnedMcpTool> {
  const stored = new Set<PinnedMcpTool>()
  let characters = 0
  for (const pin of absent) {
    if (!pin.agreed) continue
    characters += JSON.stringify(pin).length
    if (stored.size === most.tools || characters > most.characters) break
    stored.add(pin)
  }
  return stored
}

function toPinned({ tool, agreed_hash, agreed, seen_hash, seen, rule, again }: Row): PinnedMcpTool {
  const read = (text: string) => JSON.parse(text) as PinnedFacts["facts"]
  return {
    tool,
    agreed: agreed_hash !== null && agreed !== null ? { hash: agreed_hash, facts: read(agreed) } : undefined,
    seen: { hash: seen_hash, facts: read(seen) },
    rule,
    again: Number(again) === 1,
  }
}
