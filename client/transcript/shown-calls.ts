import { type CallState as Followable, pauseReasonOf } from "../../core/protocol/calls/call-state.ts"
import type { Followed, FollowedCall, FollowedProposal } from "../../core/protocol/calls/follow-calls.ts"
import { clientNameOf } from "../../core/protocol/conversation/tool-calls.ts"
import type { ConversationStatus } from "../../core/protocol/conversation/conversation.ts"
import type { CallId, ProposalId } from "../../core/protocol/ids.ts"
import { isSettled } from "../../core/protocol/proposals/proposal.ts"
import type { CallItem, Item, ProposalItem, ShownCallState, Transcript } from "./transcript.ts"

/** The calls and proposals of a transcript, for `followCalls`. */
export class ShownCalls implements Followed {
  readonly #items: readonly Item[]

  constructor({ items }: Pick<Transcript, "items">) {
    this.#items = items
  }

  /** The calls of the newest reply, or all if the list starts after it. */
  calls(): readonly FollowedCall[] {
    const calls: FollowedCall[] = []
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index] as Item
      if (item.type === "message" && item.message.role === "assistant") break
      if (item.type === "call") calls.push(this.#toFollowed(item))
    }
    return calls.reverse()
  }

  proposal(id: ProposalId): FollowedProposal | undefined {
    return toFollowed(this.#items.findLast((item) => item.type === "proposal" && item.key === id))
  }

  openProposal(callId: CallId): FollowedProposal | undefined {
    const isOpen = (item: Item) =>
      item.type === "proposal" && item.proposal.callId === callId && !isSettled(item.proposal.status)
    return toFollowed(this.#items.findLast(isOpen))
  }

  #toFollowed(item: CallItem): FollowedCall {
    const { key: id, name, duplicateOf } = item
    return { id, name, state: this.#waitsForFirst(item) ? "duplicate" : toFollowable(item), duplicateOf }
  }

  #waitsForFirst({ state, isOver, duplicateOf }: CallItem): boolean {
    if (duplicateOf === undefined || isOver || state !== "asked") return false
    return this.#items.some((item) => item.type === "call" && item.key === duplicateOf && !item.isOver)
  }
}

const toFollowed = (item: Item | undefined): FollowedProposal | undefined =>
  item?.type === "proposal"
    ? { proposed: item.proposal, status: item.proposal.status, decidedBy: item.decidedBy }
    : undefined

function toFollowable({ state, isOver }: Pick<CallItem, "state" | "isOver">): Followable {
  if (isOver) return "ended"
  if (state === "running") return "started"
  if (state === "handed_over") return state
  return state === "proposed" || state === "approved" || state === "in_doubt" ? state : "new"
}

/** The displayed state of a call without a result. */
export function toShownState(state: Exclude<Followable, "ended">): ShownCallState {
  if (state === "started") return "running"
  return state === "new" || state === "edited" || state === "duplicate" ? "asked" : state
}

/** Paused if every call of the newest reply has ended or waits, and at least one waits. */
export function transcriptStatus(transcript: Transcript): ConversationStatus {
  const { status } = transcript
  if (status !== "running" && status !== "awaiting_confirmation") return status
  return pauseReasonOf(new ShownCalls(transcript).calls()) ? "awaiting_confirmation" : "running"
}

export const isCall = (item: Item, id: CallId): item is CallItem => item.type === "call" && item.key === id
export const isProposal = (item: Item, id: ProposalId): item is ProposalItem =>
  item.type === "proposal" && item.key === id

/** Calls that wait for the client that provided their tools. */
const callsOfPrograms = ({ items }: Pick<Transcript, "items">): readonly CallItem[] =>
  items.filter((item): item is CallItem => item.type === "call" && item.state === "handed_over" && !item.isOver)

interface ClockAndFormat {
  readonly now: number
  /** Formats a moment. */
  readonly toTime: (iso: string) => string
}

/**
 * Says that a conversation waits for a client, and what the user can do; undefined if it does not. Without it, the
 * conversation would appear to wait for a decision that does not exist.
 */
export function describeClientWait(
  transcript: Pick<Transcript, "items" | "status">,
  clock: ClockAndFormat,
): string | undefined {
  const calls = transcript.status === "awaiting_confirmation" ? callsOfPrograms(transcript) : []
  if (calls.length === 0) return undefined
  const names = [...new Set(calls.map(({ name }) => clientNameOf(name) ?? name))].join(", ")
  const offered = `the program that provides ${names}`
  const until = calls.flatMap(({ waitsUntil }) => waitsUntil ?? []).sort()
  const last = until.at(-1)
  // By this machine's clock; the server decides at the next action.
  if (last !== undefined && Date.parse(last) <= clock.now)
    return `${offered[0]?.toUpperCase()}${offered.slice(1)} did not answer in time. ${WHAT_NOW}`
  return `Waiting ${last === undefined ? "" : `until ${clock.toTime(last)} `}for ${offered}. ${WHAT_NOW}`
}

const WHAT_NOW = "Send a message to continue without it, or stop the run."

/** Labels for the state of calls and proposals, for the page and the terminal. */

/** A short label for each state of a tool call, for display. */
export const callLabels: Readonly<Record<ShownCallState, string>> = {
  asked: "queued",
  proposed: "needs approval",
  approved: "approved",
  running: "running",
  handed_over: "waiting for the client",
  ended: "done",
  ok: "done",
  error: "failed",
  denied: "not allowed",
  rejected: "rejected",
  expired: "expired",
  superseded: "not applied",
  timed_out: "timed out",
  cancelled: "stopped",
  interrupted: "interrupted",
  in_doubt: "in doubt",
}

/** Describes the state of a proposal. */
export function describeProposal({ proposal: { status, code }, decidedBy }: ProposalItem): string {
  switch (status) {
    case "pending":
    case "in_doubt":
      return "waiting for you"
    case "applying":
      return "applying"
    case "applied":
      return appliedBy(decidedBy)
    case "failed":
      if (code === "proposal_unmet") return "skipped: the change it builds on was not applied"
      return code === "proposal_stale" ? "skipped: it changed in the meantime" : "failed"
    case "rejected":
      return "rejected"
    case "expired":
      return "expired"
    // Edited, proposed again, overtaken by a message, or cancelled: a proposal that is read later does not contain which.
    case "superseded":
      return "not applied"
    case "abandoned":
      return "abandoned"
  }
}

function appliedBy(by: string | null): string {
  if (by === "policy") return "done automatically"
  if (by === "device") return "done, approved on the device"
  return by === "grant" ? "done, allowed by you earlier" : "done"
}
