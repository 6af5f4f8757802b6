import type { Agent } from "./agent.ts"
import type { Conversation } from "./conversation.ts"
import type { Profile } from "./profile.ts"
import type { Schema } from "./schema.ts"
import { answer, defineTool, type Tool } from "./tool.ts"

export const MORE_TOOLS = "more_tools"

/** What the model is shown: the tools that were chosen for the first words and a way to all others, or all. */
export function declaredTools({ mode, routing }: Conversation, agent: Agent): readonly Tool[] {
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

/** The way back from a wrong guess. The fold takes note of its result, and from then on the run sees everything. */
export function moreTools(profiles: readonly Profile[]): Tool {
  const others = profiles.map(({ name, description }) => `${name} (${description})`).join("; ")
  return defineTool({
    name: MORE_TOOLS,
    description:
      "You are shown only the tools that seemed to fit. Call this when none of them does what the person wants: " +
      `then you see all of them. There are tools for: ${others}.`,
    input: NOTHING,
    effect: "read",
    afterCrash: "run-again",
    run: () => answer("You see all of your tools now. Go on with what the person asked for."),
  })
}

/** Takes whatever it is given: a model that says why it asks has asked all the same. */
const NOTHING: Schema<unknown> = {
  "~standard": {
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: "object", properties: {} }) },
  },
}
