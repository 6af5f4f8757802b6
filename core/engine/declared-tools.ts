import { type Agent, MORE_TOOLS } from "./definition/agent.ts"
import { clientDeclarations } from "./calls/client-tools.ts"
import type { Conversation } from "./conversation.ts"
import type { Tool } from "./definition/tool.ts"
import type { ToolDeclaration } from "./model.ts"

/** What the model is shown: the agent's tools and, last, those of the program that it was asked through. */
export function toolsToShow(conversation: Conversation, agent: Agent): ToolDeclaration[] {
  const tools = declaredTools(conversation, agent).map(({ declaration }) => declaration)
  // One that is called like another is none: no provider takes two of one name.
  const others = clientDeclarations(conversation).filter(({ name }) => !agent.tools.find(name))
  return [...tools, ...others]
}

/** Of it, what the agent has: its tools, those of other people's servers and, where something was taken out of its sight, those that find it again. */
export function declaredTools(conversation: Conversation, agent: Agent): readonly Tool[] {
  const chosen = chosenTools(conversation, agent)
  const { beside } = agent.tools
  const joined = agent.tools.joinedIn(conversation.mode)
  const found = conversation.compaction.hasGivenWay ? beside : []
  // Last, so that what stands before them is as it was for a provider's cache.
  return joined.length + found.length > 0 ? [...chosen, ...joined, ...found] : chosen
}

/** The tools that were chosen for the first words and a way to all others, or all. */
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

/** The last reply of a run that may call something has no room left to ask for more first: it sees all. */
export function isLastToCall({ run }: Conversation): boolean {
  return run !== undefined && run.iteration + 1 >= run.maxIterations
}

/** Whether such a reply would be shown less. Decided like any other list, on record: what was shown stays in sight. */
export function lacksTools(conversation: Conversation, { tools }: Agent): boolean {
  const { shown, wide } = conversation.routing
  if (!shown || wide || !isLastToCall(conversation)) return false
  return tools.names.some((name) => name !== MORE_TOOLS && !shown.includes(name))
}
