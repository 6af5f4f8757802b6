import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { RouterDecision } from "../../protocol/conversation/stages.ts"
import { failure } from "../../protocol/errors.ts"
import type { ConnectionId, ConversationId, UserId } from "../../protocol/ids.ts"
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
  /** Replies with calls that one run may make. */
  readonly maxIterations: number
  /** Which models answer, one after the other, where the chosen one cannot. A conversation may say otherwise. */
  readonly fallback?: readonly string[]
  /** How its model is to reply, where neither the conversation nor a message says otherwise. */
  readonly settings?: ReplySettings
  /** What its answers are promised to be: JSON that fits. One that does not is mended, twice at most, or its run fails. */
  readonly answers?: Schema<unknown>
  /** Groups of its tools, for a `route` that chooses among them for what a person says. Without one all are shown. */
  readonly profiles?: readonly Profile[]
  readonly route?: Router
  /** What is decided beside its own replies. */
  readonly stages?: Stages
  /** What every model call is told beside the instructions, as it is now: the schema of a database, the last result. */
  readonly ground?: Ground
}

export type Ground = (asked: Grounding) => Promise<string>

/** What a grounding may go by. */
export interface Grounding {
  readonly conversation: ConversationId
  readonly user: UserId
  readonly connectionId: ConnectionId | null
  /** What tools have added to the conversation so far. */
  readonly state: Readonly<Record<string, unknown>>
  /** What the person said last. */
  readonly question: string
  /**
   * Whether a result that the model is shown has these words. What it has need not be told again: what stands before the
   * history is read anew by a provider, with all that follows, whenever it changes.
   */
  readonly hasResult: (words: string) => boolean
  /** How many characters it may have at most. */
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
  // One that has some of its tools is fine: a tool may need what this server does not have.
  const empty = profiles.find((profile) => !tools.some(({ name }) => profile.tools.includes(name)))
  if (empty) throw new TypeError(`Profile "${empty.name}" names no tool of this agent.`)
  if (route && profiles.length === 0) throw new TypeError(`"${rest.name}" has a route and no profiles to choose from.`)
  const { validate, jsonSchema } = (rest.answers?.["~standard"] ?? {}) as Partial<Schema<unknown>["~standard"]>
  if (rest.answers && (typeof validate !== "function" || typeof jsonSchema?.input !== "function"))
    throw new TypeError(`"${rest.name}": answers must be a schema that can also tell its JSON schema, such as zod's.`)
  return { ...rest, tools: new ToolSet(route ? [...tools, moreTools(profiles)] : tools), maxIterations }
}

/** The tools of an agent by name. Two of one name are refused: the model could not tell them apart. */
class ToolSet {
  readonly #byName = new Map<string, Tool>()
  readonly #all: readonly Tool[]
  readonly #reads: readonly Tool[]
  /** Found when they are called, and shown only where there is something for them to find. */
  readonly beside: readonly Tool[]
  /** Those of other people's servers: shown behind all others, and chosen by nobody. */
  readonly joined: readonly Tool[]

  constructor(tools: readonly Tool[], beside: readonly Tool[] = [], joined: readonly Tool[] = []) {
    this.beside = beside.filter(({ name }) => !tools.some((tool) => tool.name === name))
    const own = [...tools, ...this.beside]
    // One that is called like a tool of ours is none: what it would be asked for is asked of ours.
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

  /** The same tools with others beside them, where there are any at all: a model without tools is not given these either. */
  with(beside: readonly Tool[]): ToolSet {
    const tools = [...this.#byName.values()].filter((tool) => !this.beside.includes(tool))
    return tools.length === 0 ? this : new ToolSet(tools, beside)
  }

  /** The same tools with those of other people's servers. */
  join(joined: readonly Tool[]): ToolSet {
    const own = [...this.#byName.values()].filter((tool) => !this.joined.includes(tool) && !this.beside.includes(tool))
    return new ToolSet(own, this.beside, joined)
  }

  joinedIn(mode: Mode): readonly Tool[] {
    return mode === "read-only" ? this.joined.filter(({ effect }) => effect === "read") : this.joined
  }

  /** What a model may see: in read-only mode a write does not exist. */
  visibleIn(mode: Mode): readonly Tool[] {
    return mode === "read-only" ? this.#reads : this.#all
  }
}

export const onlyUndoes = (tool: Tool): boolean => tool.effect === "write" && tool.onlyUndoes === true

/** The agents of this server by name. */
export class Agents {
  readonly #byName = new Map<string, Agent>()
  readonly #joining: Pick<ToolJoining, "toTool"> | undefined
  /** By what is on record: made once for each list, which lives as long as its fold. */
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

  /** For a conversation whose agent this server no longer has: it can still answer, without tools. */
  orEmpty(name: string): Agent {
    return this.#byName.get(name) ?? defineAgent({ name, description: "", instructions: "", tools: [] })
  }

  /** The agent of a conversation with the tools that have joined it. */
  of({
    agent: name,
    joined,
    user,
  }: {
    readonly agent: string
    readonly joined: readonly JoinedTool[]
    readonly user: UserId
  }): Agent {
    const agent = this.orEmpty(name)
    const joining = this.#joining
    if (!joining || joined.length === 0) return agent
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

/** A group of an agent's tools that serve one subject. */
export interface Profile {
  readonly name: string
  readonly description: string
  readonly tools: readonly string[]
}

/** What a router is shown. */
export interface Routing {
  /** What the person says now. */
  readonly words: string
  /** What was said and called before it, oldest first. Shared with the fold: read it, never change it. */
  readonly history: readonly HistoryMessage[]
  readonly profiles: readonly Profile[]
}

/** What a router says; which tools that means is worked out from the profiles. */
export type Routed = Omit<RouterDecision, "tools">

/**
 * Chooses the profiles that fit what a person says. It asks no provider anything, and it may guess: what it
 * leaves out is one `more_tools` away.
 */
export type Router = (routing: Routing, signal: AbortSignal) => Routed | Promise<Routed>

/** Where a conversation stands with it. */
export interface RoutingState {
  decision: RouterDecision | undefined
  /** Words have come that nobody has decided about and no reply has followed. */
  pending: boolean
  /**
   * What the model has been shown since the conversation began: nothing of it is taken away again, because providers keep
   * the beginning of a request in their caches, and tools come first there. Undefined before the first decision.
   */
  shown: readonly string[] | undefined
  /** All tools are shown, for good. */
  wide: boolean
}

/**
 * Folds a decision in. What the first one chose is enough until another needs more: then all tools are shown at once, so
 * that the list changes once in a conversation and not with each new subject.
 */
export function show(routing: RoutingState, { tools, by }: RouterDecision): void {
  const { shown } = routing
  if (by === "unsure" || (shown && !tools.every((name) => shown.includes(name)))) routing.wide = true
  routing.shown ??= tools
}

/** The detail of a routing step, if it is one that this build can go by. */
export function toDecision(detail: unknown): RouterDecision | undefined {
  const { profiles, tools, by } = (detail ?? {}) as Partial<Record<keyof RouterDecision, unknown>>
  const fits = Array.isArray(profiles) && Array.isArray(tools) && typeof by === "string"
  return fits ? (detail as RouterDecision) : undefined
}

export const MORE_TOOLS = "more_tools"

/** The way back from a wrong guess. The fold takes note of its result, and from then on the run sees everything. */
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

/** Takes whatever it is given: a model that says why it asks has asked all the same. */
const NOTHING: Schema<unknown> = {
  "~standard": {
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: "object", properties: {} }) },
  },
}
