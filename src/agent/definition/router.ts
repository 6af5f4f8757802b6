import type { RouterDecision } from "../../protocol/conversation/router-decision.ts"
import type { HistoryMessage } from "../model.ts"
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
