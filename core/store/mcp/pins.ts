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
   * that look for the first time at once may agree to two lists; of one tool only to the first. A tool that is gone keeps
   * what was agreed to, in case it comes back, while there are few of these.
   */
  async see(server: string, of: UserId | null, tools: readonly PinnedFacts[]): Promise<void> {
    const known = await this.read(server)
    const names = new Set(tools.map(({ facts }) => facts.tool))
    const absent = known.filter(({ tool }) => !names.has(tool))
    const stays = firstWithin(absent, MAX_ABSENT)
    const gone = absent.filter((pin) => !stays.has(pin))
    const changed = tools.filter(({ hash, facts }) => {
      return known.find(({ tool }) => tool === facts.tool)?.seen.hash !== hash
    })
    const isFirst = known.length === 0
    const statements = [
      ...changed.map(({ hash, facts }) => this.#noted({ server, of, isFirst }, hash, facts)),
      ...gone.map(({ tool, agreed }) => ({ sql: agreed ? GONE : GONE_IF_NEW, values: [server, tool] })),
    ]
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  /**
   * Agrees to a tool as it was shown, with what is decided about it: in one, for agreed to under the rule of before it might
   * run unasked. False where it is another one by now. What is said nothing of stays; that it may run again was said of
   * the tool as it was.
   */
  async agree(server: string, tool: string, { hash, rule, again }: McpToolDecision): Promise<boolean> {
    const sql = `UPDATE mcp_tool SET rule = COALESCE(CAST(? AS TEXT), rule),
      again = COALESCE(CAST(? AS BIGINT), CASE WHEN agreed_hash = seen_hash THEN again ELSE 0 END),
      agreed_hash = seen_hash, agreed = seen, updated_at = ?
      WHERE server = ? AND tool = ? AND seen_hash = ?`
    const marked = again === undefined ? null : Number(again)
    const values = [rule ?? null, marked, this.#now(), server, tool, hash]
    const statements = [{ sql, values, mustChange: true as const }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }

  #noted(
    { server, of, isFirst }: { server: string; of: UserId | null; isFirst: boolean },
    hash: string,
    facts: PinnedFacts["facts"],
  ) {
    const text = JSON.stringify(facts)
    const agreed = isFirst ? [hash, text] : [null, null]
    // One that its person has removed meanwhile, perhaps at another node, does not come back by being looked at.
    const isThere = of === null ? "" : "WHERE EXISTS (SELECT 1 FROM mcp_server WHERE id = ? AND person = ?)"
    const sql = `INSERT INTO mcp_tool (server, tool, person, agreed_hash, agreed, seen_hash, seen, rule, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, ?, NULL, CAST(? AS BIGINT) ${isThere || "WHERE true"}
      ON CONFLICT (server, tool) DO UPDATE SET seen_hash = excluded.seen_hash, seen = excluded.seen, updated_at = excluded.updated_at`
    const values = [server, facts.tool, of, ...agreed, hash, text, this.#now()]
    return { sql, values: of === null ? values : [...values, server, of] }
  }
}

const GONE = "DELETE FROM mcp_tool WHERE server = ? AND tool = ?"
/** Somebody may have agreed to it a moment ago. */
const GONE_IF_NEW = `${GONE} AND agreed_hash IS NULL`

/** As much as one list of tools may hold: a server that has none for a while loses nothing. */
const MAX_ABSENT = { tools: 100, characters: 400_000 }

/** The agreed tools from the first on, while there are few of them. */
function firstWithin(absent: readonly PinnedMcpTool[], most: typeof MAX_ABSENT): ReadonlySet<PinnedMcpTool> {
  const stays = new Set<PinnedMcpTool>()
  let characters = 0
  for (const pin of absent) {
    if (!pin.agreed) continue
    characters += JSON.stringify(pin).length
    if (stays.size === most.tools || characters > most.characters) break
    stays.add(pin)
  }
  return stays
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
