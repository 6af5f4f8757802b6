import type { UserId } from "../../protocol/ids.ts"
import type { McpToolDecision, McpToolRule, PinnedFacts, PinnedMcpTool } from "../../protocol/ports/mcp.ts"
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

/** What is known of the tools of MCP servers. */
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
   * Notes what a server offers now. What is seen of it first is agreed to, with that: whoever named it wants to use it. Two
   * that look for the first time at once may agree to two lists; of one tool only to the first.
   */
  async see(server: string, of: UserId | null, tools: readonly PinnedFacts[]): Promise<void> {
    const known = await this.read(server)
    const names = new Set(tools.map(({ facts }) => facts.tool))
    const gone = known.filter(({ tool, agreed }) => !names.has(tool) && !agreed).map(({ tool }) => tool)
    const changed = tools.filter(({ hash, facts }) => {
      return known.find(({ tool }) => tool === facts.tool)?.seen.hash !== hash
    })
    const isFirst = known.length === 0
    const statements = [
      ...changed.map(({ hash, facts }) => this.#noted({ server, of, isFirst }, hash, facts)),
      // What nobody has agreed to leaves no trace; of what somebody has, the pin stays.
      ...gone.map((tool) => ({ sql: "DELETE FROM mcp_tool WHERE server = ? AND tool = ?", values: [server, tool] })),
    ]
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  /** Agrees to a tool as it was shown. False where it is another one by now. That it may run again was said of another one. */
  async agree(server: string, tool: string, hash: string): Promise<boolean> {
    const sql = `UPDATE mcp_tool SET again = CASE WHEN agreed_hash = seen_hash THEN again ELSE 0 END,
      agreed_hash = seen_hash, agreed = seen, updated_at = ?
      WHERE server = ? AND tool = ? AND seen_hash = ?`
    return this.#changes(sql, [this.#now(), server, tool, hash])
  }

  /** What its person decides about it; what they say nothing of stays. */
  async decide(server: string, tool: string, { rule, again }: McpToolDecision): Promise<boolean> {
    const sql = `UPDATE mcp_tool SET rule = COALESCE(CAST(? AS TEXT), rule), again = COALESCE(CAST(? AS BIGINT), again),
      updated_at = ? WHERE server = ? AND tool = ?`
    const marked = again === undefined ? null : Number(again)
    return this.#changes(sql, [rule ?? null, marked, this.#now(), server, tool])
  }

  async #changes(sql: string, values: readonly (string | number | null)[]): Promise<boolean> {
    const statements = [{ sql, values: [...values], mustChange: true as const }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  #noted(
    { server, of, isFirst }: { server: string; of: UserId | null; isFirst: boolean },
    hash: string,
    facts: PinnedFacts["facts"],
  ) {
    const text = JSON.stringify(facts)
    const sql = `INSERT INTO mcp_tool (server, tool, person, agreed_hash, agreed, seen_hash, seen, rule, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)
      ON CONFLICT (server, tool) DO UPDATE SET seen_hash = excluded.seen_hash, seen = excluded.seen, updated_at = excluded.updated_at`
    const agreed = isFirst ? [hash, text] : [null, null]
    return { sql, values: [server, facts.tool, of, ...agreed, hash, text, this.#now()] }
  }
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
