import { z } from "zod"
import type { Agent } from "./agent.ts"
import { SUB_AGENTS, type SubAgentResult, type SubAgents } from "./sub-agents.ts"
import type { ReadTool, ToolAnswer } from "./tool.ts"

/** Options of `agentTool`: how the calling model sees the sub-agent, and the limits of its runs. */
export interface AgentToolOptions {
  /** The name of the tool. Default: `ask_` and the name of the agent. */
  readonly name?: string
  /** When to call the sub-agent. Default: the description of the agent. */
  readonly description?: string
  /** The most model replies with tool calls in one run of the sub-agent. Default: the limit of the agent. */
  readonly maxIterations?: number
}

/** A tool that asks another agent. `openPawl` makes its agent available. */
export interface AgentTool extends ReadTool<{ readonly task: string }, ToolAnswer<SubAgentResult>> {
  readonly agent: Agent
}

const SECONDS = 30

/**
 * Creates a tool that asks another agent. Each call is a conversation of its own for the same user, linked to the call
 * by its id, so that a restart continues it and it runs once. Its writes are proposals to the same person. Several calls
 * in one reply run in parallel; cancelling the run cancels them; a failure becomes a result for the calling model.
 *
 * @example
 * const reader = { name: "reader", description: "Reads papers.", instructions: "Summarize." }
 * const lead = defineAgent({ name: "lead", tools: [agentTool(reader)] })
 * const replies = { lead: [calls("ask_reader", { task: "Read it." }), says("Done.")], reader: [says("Short.")] }
 * await using pawl = await openPawl({ store: ":memory:", agents: [lead], models: scripted(byAgent(replies)) })
 * console.log((await pawl.ask("What does the paper say?")).text) // Done.
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): AgentTool {
  const { name = `ask_${agent.name.replaceAll("-", "_")}`, maxIterations } = options
  const description = options.description ?? agent.description
  if (!description) throw new TypeError(`agentTool: say when to call "${agent.name}": pass { description }.`)
  return {
    ...{ name, description, agent, effect: "read", timeoutSeconds: SECONDS },
    input: z.object({
      task: z.string().min(1).max(20_000).describe("The whole task. The agent sees nothing of this conversation."),
    }),
    async run({ task }, context) {
      const { [SUB_AGENTS]: subAgents } = context as { readonly [SUB_AGENTS]?: SubAgents }
      if (!subAgents) throw new TypeError("An agent tool works only in an agent of openPawl.")
      return (await subAgents.ask({ agent: agent.name, task, maxIterations })) as ToolAnswer<SubAgentResult>
    },
  }
}

/** The agents of agent tools, with those of their own tools. */
export function subAgentsIn(agents: readonly Agent[]): Agent[] {
  const found = new Set<Agent>()
  const visit = ({ tools = [] }: Agent) => {
    for (const tool of tools as readonly Partial<AgentTool>[]) {
      if (!tool.agent || found.has(tool.agent)) continue
      found.add(tool.agent)
      visit(tool.agent)
    }
  }
  agents.forEach(visit)
  return [...found].filter((agent) => !agents.includes(agent))
}
