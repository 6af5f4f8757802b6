import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { RouterDecision } from "../../protocol/conversation/stages.ts"
import { failure } from "../../protocol/errors.ts"
import type { CallId, ConnectionId, ConversationId, RunId, UserId } from "../../protocol/ids.ts"
import type { Mode } from "../../protocol/schema.ts"
import type { HistoryMessage } from "../model.ts"
import type { JoinedTool, ToolJoining } from "./joined-tools.ts"
import type { Schema } from "./schema.ts"
import type { Stages } from "./stages.ts"
import { answer, defineTool, type Tool } from "./tool.ts"

/** A named set of instructions, tools and policy. Each conversation uses one agent. */
export interface Agent {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly tools: ToolSet
  /** The most replies with tool calls in one run. */
  readonly maxIterations: number
  /** The models to try, in this order, if the chosen one fails. A conversation's own list takes precedence. */
  readonly fallback?: readonly string[]
  /** Default reply settings. Those of the conversation and the message take precedence. */
  readonly settings?: ReplySettings
  /** The schema of its answers. One that does not fit is corrected at most twice; then its run fails. */
  readonly answers?: Schema<unknown>
  /** Groups of its tools, among which `route` chooses for each message. Without a route all tools are offered. */
  readonly profiles?: readonly Profile[]
  readonly route?: Router
  /** Decisions in addition to its replies. */
  readonly stages?: Stages
  /** Text that is added to the instructions of every model call: a database's schema, the last result. */
  readonly ground?: Ground
}

export type Ground = (asked: Grounding) => Promise<string>

/** The argument of `Ground`. */
export interface Grounding {
  readonly conversation: ConversationId
  readonly user: UserId
  readonly connectionId: ConnectionId | null
  /** State that tools have added. */
  readonly state: Readonly<Record<string, unknown>>
  /** The user's last message. */
  readonly question: string
  /**
   * True if a result in the model's history contains this text. It need not be repeated then: text before the history
   * invalidates the provider's cache of everything after it whenever it changes.
   */
  readonly hasResult: (words: string) => boolean
  /** The most characters of the text. */
  readonly room: number
  readonly signal: AbortSignal
}

export interface AgentDefinition extends Omit<Agent, "tools" | "maxIterations"> {
  readonly tools: readonly Tool[]
  readonly maxIterations?: number
}

const DEFAULT_ITERATIONS = 5

export function defineAgent(definition: AgentDefinition): Agent {
  const { tools, maxIterations = DEFAULT_ITERATIONS, ...rest } = definition
  const { profiles = [], route } = rest
  // A profile may name tools that this server does not have.
  const empty = profiles.find((profile) => !tools.some(({ name }) => profile.tools.includes(name)))
  if (empty) throw new TypeError(`Profile "${empty.name}" names no tool of this agent.`)
  if (route && profiles.length === 0) throw new TypeError(`"${rest.name}" has a route and no profiles to choose from.`)
  const { validate, jsonSchema } = (rest.answers?.["~standard"] ?? {}) as Partial<Schema<unknown>["~standard"]>
  if (rest.answers && (typeof validate !== "function" || typeof jsonSchema?.input !== "function"))
    throw new TypeError(`"${rest.name}": answers must be a schema that can also tell its JSON schema, such as zod's.`)
  return { ...rest, tools: new ToolSet(route ? [...tools, moreTools(profiles)] : tools), maxIterations }
}

/** The tools of an agent by name. Two tools with one name are refused, because the model could not distinguish them. */
class ToolSet {
  readonly #byName = new Map<string, Tool>()
  readonly #all: readonly Tool[]
  readonly #reads: readonly Tool[]
  /** Tools that exist but are offered only if there is something for them to find. */
  readonly beside: readonly Tool[]
  /** Tools of MCP servers. They are listed after all others, and no route chooses among them. */
  readonly joined: readonly Tool[]

  constructor(tools: readonly Tool[], beside: readonly Tool[] = [], joined: readonly Tool[] = []) {
    this.beside = beside.filter(({ name }) => !tools.some((tool) => tool.name === name))
    const own = [...tools, ...this.beside]
    // An MCP tool with the name of an agent's tool is left out; calls go to the agent's tool.
    this.joined = joined.filter(({ name }) => !own.some((tool) => tool.name === name))
    for (const tool of [...own, ...this.joined]) {
      if (this.#byName.has(tool.name)) throw new TypeError(`Two tools are called "${tool.name}"; rename one.`)
      this.#byName.set(tool.name, tool)
    }
    this.#all = tools.filter((tool) => !onlyUndoes(tool))
    this.#reads = tools.filter((tool) => tool.effect === "read")
  }

  find(name: string): Tool | undefined {
    return this.#byName.get(name)
  }

  get names(): string[] {
    return this.#all.map(({ name }) => name)
  }

  /** The same tools with additional ones. An agent without tools gets none. */
  with(beside: readonly Tool[]): ToolSet {
    const tools = [...this.#byName.values()].filter((tool) => !this.beside.includes(tool))
    return tools.length === 0 ? this : new ToolSet(tools, beside)
  }

  /** The same tools with those of MCP servers. */
  join(joined: readonly Tool[]): ToolSet {
    const own = [...this.#byName.values()].filter((tool) => !this.joined.includes(tool) && !this.beside.includes(tool))
    return new ToolSet(own, this.beside, joined)
  }

  joinedIn(mode: Mode): readonly Tool[] {
    return mode === "read-only" ? this.joined.filter(({ effect }) => effect === "read") : this.joined
  }

  /** The tools that a model may see. In read-only mode it sees no writes. */
  visibleIn(mode: Mode): readonly Tool[] {
    return mode === "read-only" ? this.#reads : this.#all
  }
}

export const onlyUndoes = (tool: Tool): boolean => tool.effect === "write" && tool.onlyUndoes === true

/** The agents of this server by name. */
export class Agents {
  readonly #byName = new Map<string, Agent>()
  readonly #joining: Pick<ToolJoining, "toTool"> | undefined
  /** By the recorded list of tools, which exists as long as the conversation's state. */
  readonly #joined = new WeakMap<readonly JoinedTool[], Map<string, Agent>>()

  constructor(agents: readonly Agent[], joining?: Pick<ToolJoining, "toTool">) {
    this.#joining = joining
    for (const agent of agents) this.#byName.set(agent.name, agent)
  }

  get(name: string): Agent {
    const agent = this.#byName.get(name)
    if (!agent) throw failure("unknown_agent", { name, choices: this.all.map((known) => known.name).join(", ") })
    return agent
  }

  /** The agent, or an agent without tools for a conversation whose agent was removed, so that it can still answer. */
  orEmpty(name: string): Agent {
    return this.#byName.get(name) ?? defineAgent({ name, description: "", instructions: "", tools: [] })
  }

  /** The agent that continues a conversation, including its MCP tools. */
  of(conversation: Continued & { readonly joined: readonly JoinedTool[]; readonly user: UserId }): Agent {
    const { joined, user, run } = conversation
    const name = activeAgent(conversation)
    const agent = this.orEmpty(name)
    const joining = this.#joining
    // The recorded MCP tools are those of the agent with which the run started.
    const isNew = name !== conversation.agent && handoffOf(conversation)?.runId === run?.id
    if (!joining || joined.length === 0 || isNew) return agent
    const made = this.#joined.get(joined) ?? new Map<string, Agent>()
    this.#joined.set(joined, made)
    const known = made.get(name)
    if (known) return known
    const whole = { ...agent, tools: agent.tools.join(joined.map((tool) => joining.toTool(tool, user))) }
    made.set(name, whole)
    return whole
  }

  get all(): Agent[] {
    return [...this.#byName.values()]
  }
}

/** The entry of a conversation's state that says which agent continues it. Tools of the library's `handoff` write it. */
export const HANDOFF = "pawl.handoff"
/** The result of a handoff as the models read it. */
export const handoffText = (from: string, to: string): string =>
  `Handed off from ${from} to ${to}. As ${to}, continue with what the user asked.`
export const HANDED_OFF = /^Handed off from (\S+) to \S+\. As /

export interface Handoff {
  readonly to: string
  readonly from: string
  readonly callId: CallId
  readonly runId: RunId | undefined
}

/** The part of a state that decides which agent continues a conversation. */
interface Continued {
  readonly agent: string
  readonly state: Readonly<Record<string, unknown>>
  readonly run: { readonly id: RunId } | undefined
  readonly calls: readonly { readonly id: CallId; readonly state: string }[]
}

const handoffOf = ({ state }: Continued) => state[HANDOFF] as Handoff | undefined

/** The name of the agent that continues a conversation. The other calls of a reply are those of the agent that wrote it. */
export function activeAgent(conversation: Continued): string {
  const handoff = handoffOf(conversation)
  if (!handoff) return conversation.agent
  const { calls } = conversation
  const isOfReply = calls.some(({ id }) => id === handoff.callId)
  const hasOpenCalls = calls.some(({ state }) => state !== "ended" && state !== "duplicate")
  return isOfReply && hasOpenCalls ? handoff.from : handoff.to
}

/** A named group of an agent's tools. */
export interface Profile {
  readonly name: string
  readonly description: string
  readonly tools: readonly string[]
}

/** The input of a router. */
export interface Routing {
  /** The user's message. */
  readonly words: string
  /** The messages and calls before it, oldest first. Shared with the conversation's state: do not change it. */
  readonly history: readonly HistoryMessage[]
  readonly profiles: readonly Profile[]
}

/** A router's result. The tools follow from the profiles. */
export type Routed = Omit<RouterDecision, "tools">

/**
 * Chooses the profiles that fit a user's message. It asks no model and may be wrong: the model can call `more_tools`.
 */
export type Router = (routing: Routing, signal: AbortSignal) => Routed | Promise<Routed>

/** The state of the routing in a conversation. */
export interface RoutingState {
  decision: RouterDecision | undefined
  /** True if a message has arrived and there is neither a decision nor a reply. */
  pending: boolean
  /**
   * The tools that the model has been offered so far. None is removed again, because tools come first in a provider's
   * prompt cache. Undefined before the first decision.
   */
  shown: readonly string[] | undefined
  /** All tools are offered from now on. */
  wide: boolean
}

/**
 * Applies a decision. If a later message needs other tools than the first, all tools are offered at once, so that the
 * list changes once per conversation and not with each subject.
 */
export function show(routing: RoutingState, { tools, by }: RouterDecision): void {
  const { shown } = routing
  if (by === "unsure" || (shown && !tools.every((name) => shown.includes(name)))) routing.wide = true
  routing.shown ??= tools
}

/** The detail of a routing step, if this version can use it. */
export function toDecision(detail: unknown): RouterDecision | undefined {
  const { profiles, tools, by } = (detail ?? {}) as Partial<Record<keyof RouterDecision, unknown>>
  const fits = Array.isArray(profiles) && Array.isArray(tools) && typeof by === "string"
  return fits ? (detail as RouterDecision) : undefined
}

export const MORE_TOOLS = "more_tools"

/** Corrects a wrong choice: from its result on, the run is offered all tools. */
function moreTools(profiles: readonly Profile[]): Tool {
  const others = profiles.map(({ name, description }) => `${name} (${description})`).join("; ")
  return defineTool({
    name: MORE_TOOLS,
    description:
      "You are shown only the tools that seemed to fit. Call this when none of them does what the person wants: " +
      `then you see all of them. There are tools for: ${others}.`,
    input: NOTHING,
    effect: "read",
    afterCrash: "run-again",
    run: () => answer("All of your tools are available now. Continue with what the person asked for."),
  })
}

/** Accepts any arguments, because models like to add a reason. */
const NOTHING: Schema<unknown> = {
  "~standard": {
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: "object", properties: {} }) },
  },
}
