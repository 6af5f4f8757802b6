import { type Agent, MORE_TOOLS } from "./definition/agent.ts"
import { clientDeclarations } from "./calls/client-tools.ts"
import type { Conversation } from "./conversation.ts"
import type { Tool } from "./definition/tool.ts"
import type { ToolDeclaration } from "./model.ts"

/** The tools that the model is sent: the agent's, followed by those of the client. */
export function toolsToShow(conversation: Conversation, agent: Agent): ToolDeclaration[] {
  const tools = declaredTools(conversation, agent).map(({ declaration }) => declaration)
  // A client's tool is left out if an agent's tool has its name, because providers reject two tools of one name.
  const others = clientDeclarations(conversation).filter(({ name }) => !agent.tools.find(name))
  return [...tools, ...others]
}

/**
 * The agent's part: its tools, those of MCP servers and, if text was removed from the history, those that search it.
 */
export function declaredTools(conversation: Conversation, agent: Agent): readonly Tool[] {
  const chosen = chosenTools(conversation, agent)
  const { beside } = agent.tools
  const joined = agent.tools.joinedIn(conversation.mode)
  const found = conversation.compaction.hasGivenWay ? beside : []
  // At the end, so that the cached prefix at the provider stays valid.
  return joined.length + found.length > 0 ? [...chosen, ...joined, ...found] : chosen
}

/** The tools that the route chose and one that shows all others, or all tools. */
function chosenTools({ mode, routing }: Conversation, agent: Agent): readonly Tool[] {
  const visible = agent.tools.visibleIn(mode)
  if (!agent.route) return visible
  const all = visible.filter(({ name }) => name !== MORE_TOOLS)
  const { shown, wide } = routing
  if (!shown || wide) return all
  const chosen = new Set([...shown, MORE_TOOLS])
  const fitting = visible.filter(({ name }) => chosen.has(name))
  return fitting.length > all.length ? all : fitting
}

/**
 * In the last reply that may call tools, no reply is left to ask for more tools first. So it is offered all of them.
 */
export function isLastToCall({ run }: Conversation): boolean {
  return run !== undefined && run.iteration + 1 >= run.maxIterations
}

/**
 * True if such a reply would be offered fewer. The decision is recorded, because tools that were offered are not
 * removed later.
 */
export function lacksTools(conversation: Conversation, { tools }: Agent): boolean {
  const { shown, wide } = conversation.routing
  if (!shown || wide || !isLastToCall(conversation)) return false
  return tools.names.some((name) => name !== MORE_TOOLS && !shown.includes(name))
}
