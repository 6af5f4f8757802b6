import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Tool } from "./tool.ts"

/**
 * An MCP tool as recorded in the journal, with everything that the model sees and that decides about its calls. A
 * conversation uses this record and not the server's current list, so that it has the same tools after a crash.
 */
export interface JoinedTool {
  /** Its name for the model: `server__tool`. */
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** Decided by a person or the operator, never by its server. */
  readonly effect: "read" | "write"
  readonly afterCrash: "run-again" | "in-doubt"
  /** The taint of its results. */
  readonly brings: "outside" | "both"
  readonly timeoutSeconds: number
  /**
   * Set if it is called as a task, which continues on the server without a connection: the most seconds it may take.
   */
  readonly taskSeconds?: number
  /** Its server, and its name on it. */
  readonly server: string
  readonly tool: string
  /** The hash of the accepted definition. */
  readonly hash: string
}

/** Lists and calls tools of MCP servers. */
export interface ToolJoining {
  /** True if no MCP tools were found a moment ago, so that none need be requested. */
  readonly isNone: boolean
  /** The current tools for this user's agent. Undefined if they cannot be determined: then the recorded ones stay. */
  toolsFor(asked: ToolsRequest): Promise<readonly JoinedTool[] | undefined>
  /** Creates the tool for conversations of this user. */
  toTool(joined: JoinedTool, user: UserId): Tool
}

export interface ToolsRequest {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly agent: string
  readonly signal: AbortSignal
}

/** The step that records the MCP tools of a run. */
export const JOINED_TOOLS = "joined_tools"

/** The detail of such a step, if this version can use it. */
export function toJoinedTools(detail: unknown): readonly JoinedTool[] {
  const { tools } = (detail ?? {}) as { readonly tools?: unknown }
  return Array.isArray(tools) ? (tools as readonly JoinedTool[]) : []
}

/** The tools that search text removed from the history. Notes to the model name them. */
export const FIND_EARLIER = "find_earlier"
export const READ_EARLIER = "read_earlier"
