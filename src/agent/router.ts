import type { RouterDecision } from "../protocol/router-decision.ts"
import type { HistoryMessage } from "./model.ts"
import type { Profile } from "./profile.ts"

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
 * Chooses the profiles that fit what a person says. It asks no provider anything (LOOP-05), and it may guess: what it
 * leaves out is one `more_tools` away.
 */
export type Router = (routing: Routing, signal: AbortSignal) => Routed | Promise<Routed>

/** Where a conversation stands with it. */
export interface RoutingState {
  decision: RouterDecision | undefined
  /** Words have come that nobody has decided about and no reply has followed. */
  pending: boolean
  /** The model has asked for all tools. */
  wide: boolean
}

/** The detail of a routing step, if it is one that this build can go by. */
export function toDecision(detail: unknown): RouterDecision | undefined {
  const { profiles, tools, by } = (detail ?? {}) as Partial<Record<keyof RouterDecision, unknown>>
  const fits = Array.isArray(profiles) && Array.isArray(tools) && typeof by === "string"
  return fits ? (detail as RouterDecision) : undefined
}
