import type { McpServerId, UserId } from "../ids.ts"
import type { JsonObject } from "../schema.ts"

/** What is decided about a tool: it runs unasked, a person is asked each time, or no model sees it. */
export const mcpToolRules = ["read", "ask", "off"] as const
export type McpToolRule = (typeof mcpToolRules)[number]

/** What an MCP server says of one of its tools, as far as anybody is shown it. */
export interface McpToolFacts {
  /** Its name over there. */
  readonly tool: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** What it says of itself. It is shown to whoever decides, and decides nothing. */
  readonly claims: McpToolClaims
}

export interface McpToolClaims {
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  /** It can be called as a task, or only so: the call is answered with an id, and its result is asked for later. */
  readonly task?: "optional" | "required"
}

export interface PinnedFacts {
  readonly hash: string
  readonly facts: McpToolFacts
}

/** What somebody has agreed to of one tool, and what its server says of it now. */
export interface PinnedMcpTool {
  readonly tool: string
  /** Undefined where it has come since somebody has looked, and nobody has agreed to it. */
  readonly agreed: PinnedFacts | undefined
  readonly seen: PinnedFacts
  /** What its person has decided; null where the server's own rules hold. */
  readonly rule: McpToolRule | null
  /** Its person agrees that it may run again after a crash, as it says itself. */
  readonly again: boolean
}

/** What a person decides about a tool of a server of theirs: as they were shown it, by its hash. */
export interface McpToolDecision {
  readonly hash: string
  readonly rule?: McpToolRule | undefined
  readonly again?: boolean | undefined
}

/** Where pins are kept, for all nodes. */
export interface McpPins {
  read(server: string): Promise<readonly PinnedMcpTool[]>
  /**
   * Notes what a server offers now. What is seen of it first is agreed to, with that; of what comes or changes later only a
   * note is made.
   */
  see(server: string, of: UserId | null, tools: readonly PinnedFacts[]): Promise<void>
}

/** How a person's server is reached: sealed as a whole. */
export interface McpTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly isPublic: boolean
  readonly oauth?: McpOAuth
}

/** As whom we sign in where a server takes only programs that it knows, and for what where that has to be said. */
export interface McpOAuth {
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scope?: string
}

/** A server that a person has named. */
export interface StoredMcpServer {
  readonly id: McpServerId
  readonly name: string
  readonly agents: readonly string[]
  readonly target: McpTarget
  /** Another text after every change. */
  readonly version: string
}
