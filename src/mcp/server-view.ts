import type { McpServerView, McpToolView } from "../protocol/mcp-servers.ts"
import type { McpSignInState } from "../protocol/ports/mcp-sign-ins.ts"
import type { PinnedFacts, PinnedMcpTool } from "../protocol/ports/mcp.ts"
import type { McpServer } from "./definition/server.ts"
import { isAgreed, mayRunAgain, ruleOf } from "./offered-tools.ts"

/** What people are shown of a server: nothing that its headers hold. */
export function toServerView(
  server: McpServer,
  pinned: readonly PinnedMcpTool[],
  signIn: McpSignInState | undefined,
): McpServerView {
  const { name, isPersons, target, agents, isPublic } = server
  return {
    name,
    by: isPersons ? "person" : "operator",
    address: target.kind === "http" ? addressOf(target.url) : (target.command[0] ?? ""),
    headers: target.kind === "http" ? Object.keys(target.headers) : [],
    agents: [...agents],
    data: isPublic ? "public" : "private",
    ...(signIn ? { signIn } : {}),
    tools: pinned.map((pin) => toToolView(server, pin)),
  }
}

/** Without what stands before an @ or behind a question mark: tokens are put there too. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

function toToolView(server: McpServer, pin: PinnedMcpTool): McpToolView {
  const { tool, agreed, seen } = pin
  const state = isAgreed(pin) ? "agreed" : agreed ? "changed" : "new"
  const before = agreed && state === "changed" ? { before: toDefinition(agreed) } : {}
  return { tool, rule: ruleOf(server, pin), again: mayRunAgain(server, pin), state, now: toDefinition(seen), ...before }
}

function toDefinition({ hash, facts: { description, inputSchema, claims } }: PinnedFacts): McpToolView["now"] {
  return { hash, description, inputSchema, claims }
}
