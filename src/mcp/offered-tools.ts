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

/** Whether it may run again after a crash. Both have to say so: its server, which knows, and somebody who answers for it. */
export const mayRunAgain = ({ idempotent }: McpServer, { tool, seen, again }: PinnedMcpTool): boolean =>
  seen.facts.claims.idempotent === true && (again || idempotent.includes(tool))

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
    const name = names.get(pin.tool) as string
    return [toJoined(server, { ...pin.agreed, rule, name, again: rule === "read" || mayRunAgain(server, pin) })]
  })
}

interface Offered extends PinnedFacts {
  readonly name: string
  readonly rule: "read" | "ask"
  readonly again: boolean
}

function toJoined(server: McpServer, { name: called, hash, facts, rule, again }: Offered): JoinedTool {
  const { tool, description, inputSchema, claims } = facts
  const { key, name, isPublic, timeoutSeconds, taskSeconds } = server
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
