import type { McpServerId, UserId } from "../protocol/ids.ts"
import type { McpSignInState, McpToolRule } from "../protocol/mcp-servers.ts"
import type { JsonObject } from "../protocol/schema.ts"

/** An MCP server's declaration of one of its tools. */
export interface McpToolFacts {
  /** Its name on the server. */
  readonly tool: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** The server's claims about it. They are shown to the person who approves, and decide nothing. */
  readonly claims: McpToolClaims
}

export interface McpToolClaims {
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  /** The tool can, or must, be called as a task: the call returns an id, and the result is requested later. */
  readonly task?: "optional" | "required"
}

export interface PinnedFacts {
  readonly hash: string
  readonly facts: McpToolFacts
}

/** The accepted definition of a tool, and its current one. */
export interface PinnedMcpTool {
  readonly tool: string
  /** Undefined if it is new and no person has accepted it. */
  readonly agreed: PinnedFacts | undefined
  readonly seen: PinnedFacts
  /** The user's decision, or null to use the server's rules. */
  readonly rule: McpToolRule | null
  /** The user accepts that it is repeated after a crash, as the tool declares. */
  readonly again: boolean
}

/** A user's decision about a tool of an MCP server, for the version of the tool that was shown, by its hash. */
export interface McpToolDecision {
  readonly hash: string
  readonly rule?: McpToolRule | undefined
  readonly again?: boolean | undefined
}

/** Stores accepted tools for all nodes. */
export interface McpPins {
  read(server: string): Promise<readonly PinnedMcpTool[]>
  /** Records what a server offers now. The first version of a tool is accepted; later ones are only recorded. */
  see(server: string, of: UserId | null, tools: readonly PinnedFacts[]): Promise<void>
}

/** How a user's server is reached. Encrypted as a whole. */
export interface McpTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly isPublic: boolean
  readonly oauth?: McpOAuth
}

/** Our client id at a server that accepts only registered clients, and the scope if it must be named. */
export interface McpOAuth {
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scope?: string
}

/** A server that a user has added. */
export interface StoredMcpServer {
  readonly id: McpServerId
  readonly name: string
  readonly agents: readonly string[]
  readonly target: McpTarget
  /** Changes with every update. */
  readonly version: string
}

/** The encrypted part. */
export interface McpSignIn {
  /** The address that it is for. It is not sent to any other. */
  readonly url: string
  /** The server's response when it rejected a request. */
  readonly challenge?: McpChallenge
  readonly granted?: McpGranted
}

/** A server's demand to sign in: at which address, and for which scope. */
export interface McpChallenge {
  readonly metadataUrl?: string
  readonly scope?: string
}

/** The tokens of a sign-in, and how they are renewed. */
export interface McpGranted {
  readonly at: McpSignInPlace
  readonly accessToken: string
  readonly refreshToken?: string
  readonly scope?: string
  /** In milliseconds. Absent if the server does not report an expiry. */
  readonly expiresAt?: number
}

/** The authorization server, our client there, and the audience of the tokens. */
export interface McpSignInPlace {
  readonly server: string
  readonly metadata: JsonObject
  readonly client: JsonObject
  readonly resource: string
}

/** A sign-in in progress, encrypted until its response arrives. */
export interface McpSignInAttempt {
  readonly server: string
  readonly url: string
  readonly at: McpSignInPlace
  readonly verifier: string
  readonly redirect: string
  readonly scope?: string
  /** The browser session that started it and must finish it. Without it, any session of the user can. */
  readonly session?: string
}

export interface StoredMcpSignIn extends McpSignIn {
  readonly state: McpSignInState
  /** Changes with every update. */
  readonly version: string
}

/** Stores sign-ins for all nodes. Those of other users are treated as missing. */
export interface McpSignIns {
  /** The state by server. */
  states(user: UserId): Promise<ReadonlyMap<string, McpSignInState>>
  read(user: UserId, server: string): Promise<StoredMcpSignIn | undefined>
  /** With `over`, only if that is still the version (`none`: if there is none); false if it is not. */
  put(user: UserId, server: string, signIn: Omit<StoredMcpSignIn, "version">, over?: string): Promise<boolean>
  /**
   * Returns true for one of all callers that want to renew this version, until `until` or until it releases the claim.
   */
  claim(user: UserId, server: string, claimed: { readonly version: string; readonly until: number }): Promise<boolean>
  giveUp(user: UserId, server: string, version: string): Promise<void>
  remove(user: UserId, server: string): Promise<void>
  /** Replaces a previous attempt: of two attempts the later one counts. */
  begin(user: UserId, state: string, attempt: McpSignInAttempt, expiresAt: number): Promise<void>
  /**
   * Consumes it. Undefined if it does not exist, has expired, was used or is another user's. Of concurrent calls, one
   * succeeds.
   */
  finish(user: UserId, state: string): Promise<McpSignInAttempt | undefined>
}
