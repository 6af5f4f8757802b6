import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Tool } from "./tool.ts"

/**
 * A tool of somebody else's server, as it stands in the journal: all that a model is shown of it and all that decides about
 * its calls. A conversation goes by what is on record and not by what the server says meanwhile, so that whoever takes it
 * up after a crash has the same tools.
 */
export interface JoinedTool {
  /** What it is called here: `server__tool`. */
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** What a person or the operator has decided about it, never what its server says of it. */
  readonly effect: "read" | "write"
  readonly afterCrash: "run-again" | "in-doubt"
  /** What its results may hold. */
  readonly brings: "outside" | "both"
  readonly timeoutSeconds: number
  /** Set on one that is called as a task, which goes on over there while nobody listens: how long it may take. */
  readonly taskSeconds?: number
  /** Whose tool it is, and what it is called there. */
  readonly server: string
  readonly tool: string
  /** Of the definition that somebody has agreed to. */
  readonly hash: string
}

/** Where tools of other people's servers come from, and how they are called. */
export interface ToolJoining {
  /** Nobody has any, as was seen a moment ago: nothing need be asked for. */
  readonly isNone: boolean
  /** What this person's agent has of them now. Undefined where that cannot be told: then what was there stays. */
  toolsFor(asked: AskedTools): Promise<readonly JoinedTool[] | undefined>
  /** For a conversation of this person. */
  toTool(joined: JoinedTool, user: UserId): Tool
}

export interface AskedTools {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly agent: string
  readonly signal: AbortSignal
}

/** The step that says which tools have joined. */
export const JOINED_TOOLS = "joined_tools"

/** The detail of such a step, if it is one that this build can go by. */
export function toJoinedTools(detail: unknown): readonly JoinedTool[] {
  const { tools } = (detail ?? {}) as { readonly tools?: unknown }
  return Array.isArray(tools) ? (tools as readonly JoinedTool[]) : []
}

/** The tools that find what has given way: what the model is told of it names them. */
export const FIND_EARLIER = "find_earlier"
export const READ_EARLIER = "read_earlier"
