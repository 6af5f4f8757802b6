import { canonicalJson } from "../../shared/text/json.ts"
import type { CallStatus } from "../conversation/message.ts"
import type { CallId, ProposalId } from "../ids.ts"
import { type ProposalStatus, statusAfterCall } from "../proposals/proposal.ts"
import type { JsonObject } from "../schema.ts"
import type { ToolCall } from "../socket.ts"
import type { CallState } from "./call-state.ts"

/**
 * The effect of each event on calls and proposals, defined only here. The conversation's state, the frames and the
 * transcript store calls in different ways: each passes them to `followCalls` and applies the changes that it returns.
 */

export interface FollowedCall {
  readonly id: CallId
  readonly name: string
  readonly state: CallState
  readonly duplicateOf?: CallId | undefined
}

export interface FollowedProposal {
  readonly proposed: Named
  readonly status: ProposalStatus
  /** Undefined or null if it is undecided, or if it is unknown who decided. */
  readonly decidedBy?: string | null | undefined
}

/** The calls and proposals known so far. */
export interface Followed {
  /** The calls of the newest reply. */
  calls(): Iterable<FollowedCall>
  proposal(id: ProposalId): FollowedProposal | undefined
  /** The proposal of a call that is not settled, of whichever run. */
  openProposal(call: CallId): FollowedProposal | undefined
}

export type CallChange =
  | { readonly of: "call"; readonly id: CallId; readonly state: CallState }
  | {
      readonly of: "proposal"
      readonly id: ProposalId
      /** Undefined if it does not change. */
      readonly status: ProposalStatus | undefined
      readonly code: string | undefined
      /** The person who decided, if the event contains it; null revokes the decision. */
      readonly by: string | null | undefined
    }

/** The fields of each event that matter for calls. Its frame has the same fields under the same names. */
export interface CallEvents {
  readonly tool_start: { readonly callId: CallId }
  readonly handed_over: { readonly callId: CallId }
  readonly tool_end: { readonly callId: CallId; readonly status: CallStatus; readonly code?: string | undefined }
  readonly awaiting_confirmation: { readonly proposals: readonly Named[] }
  readonly proposal: { readonly proposal: Named; readonly approvedBy?: string | undefined }
  readonly decision: {
    readonly proposalId: ProposalId
    readonly decision: "commit" | "reject" | "edit"
    readonly by: string
  }
  readonly grant_revoked: { readonly tool?: string | undefined }
  readonly in_doubt: { readonly callId: CallId }
  readonly resolution: {
    readonly callId: CallId
    readonly choice: keyof typeof statusAfterResolution
    readonly by: string
  }
  readonly late_result: { readonly callId: CallId; readonly status: "ok" | "error" }
}

interface Named {
  readonly id: ProposalId
  readonly callId: CallId
}

/** The proposal status after a person resolved a write in doubt. */
export const statusAfterResolution = { retry: "applying", done: "applied", abandon: "abandoned" } as const

/** The proposal status after a decision. A rejected one is settled by the result of its call, in the same commit. */
export const statusAfterDecision = { commit: "applying", reject: "rejected", edit: "superseded" } as const

type Follow<Type extends keyof CallEvents> = (told: CallEvents[Type], followed: Followed) => readonly CallChange[]

/** One line per type of event that is about calls. */
const table: { readonly [Type in keyof CallEvents]: Follow<Type> } = {
  tool_start: ({ callId }) => [toCall(callId, "started")],

  handed_over: ({ callId }) => [toCall(callId, "handed_over")],

  tool_end({ callId, status, code }, followed) {
    const changes = [toCall(callId, "ended")]
    // Its duplicates get their results in the same commit. In older journals they are ordinary calls.
    for (const { id, state, duplicateOf } of followed.calls())
      if (state === "duplicate" && duplicateOf === callId) changes.push(toCall(id, "new"))
    const open = followed.openProposal(callId)
    if (open) changes.push(toProposal(open.proposed.id, statusAfterCall[status], undefined, code))
    return changes
  },

  awaiting_confirmation: ({ proposals }) => proposals.flatMap((proposed) => propose(proposed)),

  proposal: ({ proposal, approvedBy }) =>
    approvedBy === undefined ? propose(proposal) : approve(proposal, approvedBy),

  decision({ proposalId, decision, by }, followed) {
    const decided = followed.proposal(proposalId)
    if (!decided) return []
    const { id, callId } = decided.proposed
    if (decision === "commit") return approve(decided.proposed, by)
    if (decision === "reject") return [toProposal(id, undefined, by)]
    return [toCall(callId, "edited"), toProposal(id, statusAfterDecision.edit, by)]
  },

  /** Calls that a grant approved and that have not started need a decision again. Started ones do not change. */
  grant_revoked: ({ tool }, followed) =>
    grantedProposals(followed, tool).flatMap(({ proposed }) => propose(proposed, null)),

  in_doubt({ callId }, followed) {
    const open = followed.openProposal(callId)
    const doubted = toCall(callId, "in_doubt")
    return open ? [doubted, toProposal(open.proposed.id, "in_doubt")] : [doubted]
  },

  /** If it is declared done or abandoned, its result ends it in the same commit. Its run may have ended, too. */
  resolution({ callId, choice, by }, followed) {
    const open = followed.openProposal(callId)
    if (!open) return []
    if (choice === "done") return [toProposal(open.proposed.id, statusAfterResolution.done)]
    // A call cannot be retried after its run has ended, and no client offers it.
    if (choice === "retry" && hasNoResult(followed, callId)) return approve(open.proposed, by)
    return [toProposal(open.proposed.id, statusAfterResolution.abandon)]
  },

  late_result({ callId, status }, followed) {
    const open = followed.openProposal(callId)
    return open ? [toProposal(open.proposed.id, statusAfterCall[status])] : []
  },
}

const TYPES: ReadonlySet<string> = new Set(Object.keys(table))

export const isAboutCalls = <Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: keyof CallEvents }> => TYPES.has(event.type)

/** Returns how an event changes calls and proposals, in order. Pure. */
export function followCalls<Type extends keyof CallEvents>(
  type: Type,
  told: CallEvents[Type],
  followed: Followed,
): readonly CallChange[] {
  return (table[type] as Follow<Type>)(told, followed)
}

/** Proposals whose calls run next because of a grant: of one tool, or all. */
export function grantedProposals(followed: Followed, tool: string | undefined): FollowedProposal[] {
  const granted: FollowedProposal[] = []
  for (const { id, name, state } of followed.calls()) {
    if (state !== "approved" || (tool !== undefined && name !== tool)) continue
    const open = followed.openProposal(id)
    // A snapshot does not tell who decided. A call that a person approved starts next, which its own event reports.
    if (open && (open.decidedBy ?? "grant") === "grant") granted.push(open)
  }
  return granted
}

function hasNoResult(followed: Followed, callId: CallId): boolean {
  for (const { id, state } of followed.calls()) if (id === callId) return state !== "ended"
  return false
}

const propose = ({ id, callId }: Named, by?: null): CallChange[] => [
  toCall(callId, "proposed"),
  toProposal(id, "pending", by),
]

const approve = ({ id, callId }: Named, by: string): CallChange[] => [
  toCall(callId, "approved"),
  toProposal(id, "applying", by),
]

const toCall = (id: CallId, state: CallState): CallChange => ({ of: "call", id, state })

function toProposal(id: ProposalId, status?: ProposalStatus, by?: string | null, code?: string): CallChange {
  return { of: "proposal", id, status, code, by }
}

/** A call of a reply. */
interface MadeCall {
  readonly id: CallId
  readonly name: string
  readonly input: JsonObject
  /** Set if its arguments could not be parsed, so that it cannot be compared with others. */
  readonly invalidInput?: string | undefined
}

/** By the ids of the duplicates among the calls of one reply: the call that each of them waits for. */
export function firstOfEach(calls: readonly MadeCall[]): ReadonlyMap<CallId, CallId> {
  const found = new Map<CallId, CallId>()
  if (calls.length < 2) return found
  const firsts = new Map<string, CallId>()
  for (const { id, name, input, invalidInput } of calls) {
    if (invalidInput !== undefined) continue
    const key = callKey(name, input)
    const first = firsts.get(key)
    if (first) found.set(id, first)
    else firsts.set(key, id)
  }
  return found
}

/** The same key for identical calls, whatever the order of their arguments. */
export function callKey(name: string, input: JsonObject): string {
  return `${name} ${canonicalJson(input)}`
}

/**
 * The text that a server signs when it sends an approved change to a device: the id of the call, the device, and the hash of
 * everything that the device is asked to do. Both ends build it, so the signature counts for this call and no other.
 */
export function approvalText(call: ToolCall, deviceId: string, sha256: (text: string) => string): string {
  const { type: _, id, conversationId: __, approvals: ___, ...asked } = call
  return JSON.stringify(["pawl approval 1", id, deviceId, sha256(canonicalJson(asked))])
}
