import type { JoinedTool } from "../agent/definition/joined-tools.ts"
import { own } from "../protocol/own.ts"
import type { McpToolRule, PinnedFacts, PinnedMcpTool } from "../protocol/ports/mcp.ts"
import type { McpServer } from "./definition/server.ts"
import { toolNames } from "./definition/tool-name.ts"

/** Whether a model may be shown it: as somebody has agreed to it, and as it still is. */
export const isAgreed = ({ agreed, seen }: PinnedMcpTool): boolean => agreed?.hash === seen.hash

/** What is decided about a tool: by its person, by name, for all of its server; and otherwise a person is asked. */
export const ruleOf = ({ rules }: McpServer, { tool, rule }: Pick<PinnedMcpTool, "tool" | "rule">): McpToolRule =>
  rule ?? own(rules, tool) ?? own(rules, "*") ?? "ask"

/** The tools of a server that a model may be shown, as they stand in a journal. */
export function offeredTools(server: McpServer, pinned: readonly PinnedMcpTool[]): JoinedTool[] {
  // Of all that it has, whatever is decided about them: a name stays when another tool is switched off.
  const names = toolNames(
    server.name,
    pinned.map(({ tool }) => tool),
  )
  return pinned.flatMap((pin) => {
    const rule = ruleOf(server, pin)
    if (!pin.agreed || !isAgreed(pin) || rule === "off") return []
    return [toJoined(server, { ...pin.agreed, rule, name: names.get(pin.tool) as string })]
  })
}

interface Offered extends PinnedFacts {
  readonly name: string
  readonly rule: "read" | "ask"
}

function toJoined(server: McpServer, { name: called, hash, facts, rule }: Offered): JoinedTool {
  const { tool, description, inputSchema, claims } = facts
  const { key, name, isPublic, timeoutSeconds, taskSeconds, idempotent } = server
  // Both have to say so: the server, which knows, and somebody who answers for it.
  const again = rule === "read" || (claims.idempotent === true && idempotent.includes(tool))
  return {
    name: called,
    description: `[${tool}, a tool of the MCP server "${name}". That server says of it:] ${description || "nothing"}`,
    inputSchema,
    effect: rule === "read" ? "read" : "write",
    afterCrash: again ? "run-again" : "in-doubt",
    brings: isPublic ? "outside" : "both",
    timeoutSeconds,
    ...(claims.task ? { taskSeconds } : {}),
    server: key,
    tool,
    hash,
  }
}
