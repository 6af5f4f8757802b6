import type { UserId } from "../ids.ts"
import type { JsonObject } from "../schema.ts"

/**
 * Where a person stands with a server that wants a sign-in: not signed in yet, signed in, signed in until the tokens ended,
 * or signed in and asked for more than was allowed.
 */
export const mcpSignInStates = ["needed", "done", "ended", "more"] as const
export type McpSignInState = (typeof mcpSignInStates)[number]

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
