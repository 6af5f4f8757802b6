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

/** Options of `handoff`: how the calling model sees the other agent. */
export type HandoffOptions = Pick<AgentToolOptions, "name" | "description">

/** A tool that hands the conversation to another agent. `openPawl` makes its agent available. */
export interface HandoffTool extends ReadTool<object, ToolAnswer> {
  readonly handsOffTo: string
  readonly agent?: Agent
}

/**
 * Creates a tool that hands the conversation to another agent: once the call and the others of its reply have ended,
 * that agent continues, with its own instructions and tools, and also answers the next messages. Name the agent instead
 * of passing it if two agents hand off to each other.
 *
 * @example
 * const billing = { name: "billing", description: "Knows invoices.", instructions: "Answer questions about invoices." }
 * const triage = defineAgent({ name: "triage", tools: [handoff(billing)] })
 * const models = scripted(calls("hand_off_to_billing", {}), says("Invoice 7 is due."))
 * await using pawl = await openPawl({ store: ":memory:", agents: [triage], models })
 * console.log((await pawl.ask("Which invoice is due?")).text) // Invoice 7 is due.
 */
export function handoff(agent: Agent | string, options: HandoffOptions = {}): HandoffTool {
  const to = typeof agent === "string" ? agent : agent.name
  const { name = `hand_off_to_${to.replaceAll("-", "_")}` } = options
  const description = options.description ?? (typeof agent === "string" ? undefined : agent.description)
  if (!description) throw new TypeError(`handoff: say when to hand off to "${to}": pass { description }.`)
  return {
    ...{ name, description, handsOffTo: to, effect: "read", input: z.object({}) },
    ...(typeof agent === "string" ? {} : { agent }),
    async run(_, context) {
      const { [SUB_AGENTS]: subAgents } = context as { readonly [SUB_AGENTS]?: SubAgents }
      if (!subAgents) throw new TypeError("A handoff works only in an agent of openPawl.")
      return (await subAgents.handOff(to)) as ToolAnswer
    },
  }
}

/** The agents of agent tools and handoffs, with those of their own tools. */
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

/** The agents with which an agent can share a conversation, by handoffs in any direction. */
export function handoffsAmong(agents: readonly Agent[], { name }: Agent): Agent[] {
  const targets = ({ tools = [] }: Agent) => (tools as readonly Partial<HandoffTool>[]).map((tool) => tool.handsOffTo)
  const names = new Set([name])
  for (let size = 0; size < names.size;) {
    size = names.size
    for (const agent of agents)
      for (const to of targets(agent)) {
        if (to === undefined) continue
        if (!agents.some((each) => each.name === to))
          throw new TypeError(`Agent "${agent.name}": it hands off to "${to}", which is not an agent.`)
        if (names.has(agent.name) || names.has(to)) names.add(agent.name).add(to)
      }
  }
  return agents.filter((agent) => agent.name !== name && names.has(agent.name))
}
