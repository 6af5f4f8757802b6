import { type CallState as Followable, pauseReasonOf } from "../../protocol/calls/call-state.ts"
import type { Followed, FollowedCall, FollowedProposal } from "../../protocol/calls/follow-calls.ts"
import type { ConversationStatus } from "../../protocol/conversation/conversation.ts"
import type { CallId, ProposalId } from "../../protocol/ids.ts"
import { isSettled } from "../../protocol/proposals/status-after-call.ts"
import type { CallItem, ShownCallState, Item, ProposalItem, Transcript } from "./transcript.ts"

/** The calls and proposals of a transcript, for `followCalls`. */
export class ShownCalls implements Followed {
  readonly #items: readonly Item[]

  constructor({ items }: Pick<Transcript, "items">) {
    this.#items = items
  }

  /** Back to the newest reply; where the list begins after it, all there are. */
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

/** How a call is shown that has no result yet. */
export function toShownState(state: Exclude<Followable, "ended">): ShownCallState {
  if (state === "started") return "running"
  return state === "new" || state === "edited" || state === "duplicate" ? "asked" : state
}

/** Paused when each call of the newest reply has ended or waits for a person, and at least one waits. */
export function transcriptStatus(transcript: Transcript): ConversationStatus {
  const { status } = transcript
  if (status !== "running" && status !== "awaiting_confirmation") return status
  return pauseReasonOf(new ShownCalls(transcript).calls()) ? "awaiting_confirmation" : "running"
}

export const isCall = (item: Item, id: CallId): item is CallItem => item.type === "call" && item.key === id
export const isProposal = (item: Item, id: ProposalId): item is ProposalItem =>
  item.type === "proposal" && item.key === id
