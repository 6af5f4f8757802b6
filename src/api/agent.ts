import type { Schema } from "../agent/definition/schema.ts"
import { type Agent as InternalAgent, defineAgent as checkAgent } from "../agent/definition/agent.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { check } from "../server/request/read-input.ts"
import { GivenReply } from "./given.ts"
import { type Tool, toInternalTool } from "./tool.ts"

/** Instructions and tools under a name: what a conversation is with. */
export interface Agent {
  readonly name: string
  /** For people who choose among several. */
  readonly description?: string
  readonly instructions?: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type stand side by side here
  readonly tools?: readonly Tool<any, any>[]
  /** How many replies with calls one run may make; 5 without. */
  readonly maxIterations?: number
  /** Names of models that answer, one after the other, where the chosen one is out of reach, overloaded or out of quota. */
  readonly fallback?: readonly string[]
  /** How its model replies, where neither the conversation nor a question says otherwise. */
  readonly settings?: ReplySettings
  /** What its answers are promised to be: JSON that fits. One that does not is mended, twice at most, or the run fails. */
  readonly answers?: Schema<unknown>
  /** What every model call is told beside the instructions, as it is now. */
  ground?(context: GroundContext): Promise<string>
}

/** What a grounding may go by. */
export interface GroundContext {
  /** What the person said last. */
  readonly question: string
  /** What tools have added to the conversation so far. */
  readonly state: Readonly<Record<string, unknown>>
  /** How many characters it may have at most. */
  readonly room: number
  readonly signal: AbortSignal
}

/** Keeps the types of an agent that stands by itself, and finds its faults where it is defined. */
export function defineAgent(agent: Agent): Agent {
  toInternalAgents([agent])
  return agent
}

/** The agent of a program that has named none: the model alone. */
const ASSISTANT: Agent = { name: "assistant", description: "Answers." }

export function toInternalAgents(agents: readonly Agent[] = [ASSISTANT]): InternalAgent[] {
  if (agents.length === 0) throw new TypeError("agents: name at least one, or leave it out for the model alone.")
  const names = agents.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`agents: two are called "${twice}"; rename one.`)
  for (const { settings = {} } of agents) check(GivenReply, settings)
  return agents.map(({ description = "", instructions = "", tools = [], ...rest }) =>
    checkAgent({ ...rest, description, instructions, tools: tools.map((tool) => toInternalTool(tool)) }),
  )
}
