import { type Agent as InternalAgent, defineAgent as checkAgent } from "../engine/definition/agent.ts"
import type { Schema } from "../engine/definition/schema.ts"
import type { Tool as InternalTool } from "../engine/definition/tool.ts"
import type { OpenedPack as InternalOpenedPack, Pack as InternalPack, PackNeeds, PackServices } from "../packs/pack.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { AgentSchema } from "./option-schemas.ts"
import { type ExtendContext, toInternalTool, type Tool } from "./tool.ts"

/** An agent: a name, instructions and tools. Each conversation uses one agent. */
export interface Agent {
  readonly name: string
  /** A short description, shown to people who choose an agent. */
  readonly description?: string
  readonly instructions?: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type stand side by side here
  readonly tools?: readonly Tool<any, any>[]
  /** The most model replies with tool calls in one run. Default: 5. */
  readonly maxIterations?: number
  /** Names of models to try in this order if the chosen model is unreachable, overloaded or over its quota. */
  readonly fallback?: readonly string[]
  /** Default reply settings. Settings of the conversation or of a message take precedence. */
  readonly settings?: ReplySettings
  /**
   * A schema for the final answer. A reply that does not fit is sent back to the model for correction, at most twice;
   * after that the run fails with `answer_unfit`.
   */
  readonly answers?: Schema<unknown>
  /** Returns text that is added to the instructions of each model call, computed at the time of the call. */
  ground?(context: GroundContext): Promise<string>
}

/**
 * The argument of an agent's `ground` function, which adds text to the instructions of each model call: the user's
 * question, the conversation's state, and the most characters to return.
 */
export interface GroundContext {
  readonly user: UserId
  readonly conversation: ConversationId
  /** The latest message of the user. */
  readonly question: string
  /** The conversation's state, to which tools add with `state` in their answers. */
  readonly state: Readonly<Record<string, unknown>>
  /** The most characters that the returned text may have. */
  readonly room: number
  readonly signal: AbortSignal
}

/**
 * Checks an agent where it is defined and returns it. Throws a `TypeError` if the agent is invalid.
 *
 * @example
 * const clerk = defineAgent({ name: "clerk", instructions: "You pay invoices.", maxIterations: 3 })
 * await using pawl = await openPawl({ store: ":memory:", agents: [clerk], models: scripted(says("Hello.")) })
 * console.log((await pawl.ask("Hi.", { agent: "clerk" })).text) // Hello.
 */
export function defineAgent(agent: Agent): Agent {
  toInternalAgents([agent])
  return agent
}

/** Used if the program defines no agents: the model without tools. */
const ASSISTANT: Agent = { name: "assistant", description: "Answers." }

/** `sharing` returns the agents that can work in the same conversations, so that writes of one can be undone by all. */
export function toInternalAgents(
  agents: readonly Agent[] = [ASSISTANT],
  extend?: ExtendContext,
  sharing: (agent: Agent) => readonly Agent[] = () => [],
): InternalAgent[] {
  if (agents.length === 0) throw new TypeError("agents: name at least one, or leave it out for the model alone.")
  const names = agents.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`agents: two are called "${twice}"; rename one.`)
  agents.forEach(refuseMistakes)
  return agents.map((agent) => {
    const { description = "", instructions = "", tools = [], ...rest } = agent
    const own = tools.map((tool) => toInternalTool(tool, extend))
    const others = new Map<string, InternalTool>()
    for (const tool of sharing(agent).flatMap((other) => other.tools ?? []))
      if (tool.effect === "write" && !own.some(({ name }) => name === tool.name))
        others.set(tool.name, { ...toInternalTool(tool, extend), onlyUndoes: true } as InternalTool)
    return checkAgent({ ...rest, description, instructions, tools: [...own, ...others.values()] })
  })
}

/** Types do not stop JavaScript, nor a value from a file. */
function refuseMistakes(agent: Agent): void {
  const { error } = AgentSchema.safeParse(agent)
  if (!error) return
  const problems = error.issues.map(({ path, message }) => [path.join("."), message].filter(Boolean).join(": "))
  throw new TypeError(`Agent "${String(Object(agent).name)}": ${problems.join("; ")}.`)
}

/** Agents for a server, with the tables, routes and services that they need. See docs/recipes/write-a-pack.md. */
export interface Pack {
  readonly name: string
  readonly needs?: PackNeeds
  open(services: PackServices): OpenedPack | Promise<OpenedPack>
}

/** A pack after the server has opened it, with its agents and routes ready to use. */
export interface OpenedPack extends Omit<InternalOpenedPack, "agents"> {
  readonly agents: readonly Agent[]
}

/**
 * Defines a pack for a server. Its agents have the same form as those of an embedding program.
 *
 * @example
 * const pack = definePack({
 *   name: "books",
 *   open: ({ clock }) => ({ agents: [defineAgent({ name: "librarian", instructions: `Now: ${clock.now()}` })] }),
 * })
 * console.log(pack.name) // books
 */
export function definePack(pack: Pack): Pack {
  const made: InternalPack = {
    ...pack,
    async open(services) {
      const opened = await pack.open(services)
      return { ...opened, agents: opened.agents.length === 0 ? [] : toInternalAgents(opened.agents) }
    },
  }
  // The types differ: its opened agents have the loop's own form, which only a server reads.
  return made as unknown as Pack
}
