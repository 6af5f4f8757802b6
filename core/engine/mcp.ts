import type { McpServerId, UserId } from "../protocol/ids.ts"
import type { McpSignInState, McpToolRule } from "../protocol/mcp-servers.ts"
import type { JsonObject } from "../protocol/schema.ts"

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

/** What is sealed of it. */
export interface McpSignIn {
  /** The address that it is for: to another one nothing of it is sent. */
  readonly url: string
  /** What the server said when it refused us. */
  readonly challenge?: McpChallenge
  readonly granted?: McpGranted
}

/** Where a server says how to sign in, and for what. */
export interface McpChallenge {
  readonly metadataUrl?: string
  readonly scope?: string
}

/** What a person has signed in for, and how it is renewed. */
export interface McpGranted {
  readonly at: McpSignInPlace
  readonly accessToken: string
  readonly refreshToken?: string
  readonly scope?: string
  /** In milliseconds; without, nobody has said how long it lasts. */
  readonly expiresAt?: number
}

/** The server that gives out the tokens, who we are there, and what the tokens are for. */
export interface McpSignInPlace {
  readonly server: string
  readonly metadata: JsonObject
  readonly client: JsonObject
  readonly resource: string
}

/** A sign-in under way, sealed until its answer comes. */
export interface McpSignInAttempt {
  readonly server: string
  readonly url: string
  readonly at: McpSignInPlace
  readonly verifier: string
  readonly redirect: string
  readonly scope?: string
  /** The session of the browser that began it, which alone can finish it; without, whoever the person is. */
  readonly session?: string
}

export interface StoredMcpSignIn extends McpSignIn {
  readonly state: McpSignInState
  /** Another text after every change. */
  readonly version: string
}

/** Where they are kept, for all nodes. What belongs to somebody else is not there. */
export interface McpSignIns {
  /** By server. */
  states(user: UserId): Promise<ReadonlyMap<string, McpSignInState>>
  read(user: UserId, server: string): Promise<StoredMcpSignIn | undefined>
  /** With `over`, only where that is still the version (`none`: where there is nothing yet); false where it is not. */
  put(user: UserId, server: string, signIn: Omit<StoredMcpSignIn, "version">, over?: string): Promise<boolean>
  /** True for one of all that want to renew this version, until `until` or until they give it up. */
  claim(user: UserId, server: string, claimed: { readonly version: string; readonly until: number }): Promise<boolean>
  giveUp(user: UserId, server: string, version: string): Promise<void>
  remove(user: UserId, server: string): Promise<void>
  /** In place of one before it: of two that were begun the later counts. */
  begin(user: UserId, state: string, attempt: McpSignInAttempt, expiresAt: number): Promise<void>
  /** Uses it up. Undefined where it never was, is over, was used or is somebody else's: of racing uses one wins. */
  finish(user: UserId, state: string): Promise<McpSignInAttempt | undefined>
}
