import type { EventOf } from "../../protocol/events.ts"
import { filesIn } from "../../protocol/conversation/tool-calls.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import { callOf, followEvent } from "../calls/follow-event.ts"
import { type Conversation, madeProgress } from "../conversation.ts"
import { grant, revoke, useGrant } from "../gate/grants.ts"
import { rememberResult } from "../history/history.ts"
import { noteDecision } from "./messages.ts"
import { MORE_TOOLS } from "../definition/agent.ts"
import { markUntrusted } from "../untrusted-text.ts"
import { applySources, closeQuestion } from "./stages.ts"
import { showNumbers, sourcesIn } from "../history/source-numbers.ts"
import { hasUntrustedText, noteResultSeen } from "../gate/taint.ts"

/**
 * Applies events of calls and proposals to the state. `followEvent` tracks the state of each, as for every client; this
 * adds what else an event means to the loop. Calls and results are paired here, by recorded states.
 */
export const applyCalls = {
  tool_start(conversation: Conversation, event: EventOf<"tool_start">) {
    followEvent(conversation, event)
    const call = callOf(conversation, event.callId)
    call.attempts++
    call.startedAt = event.at
    if (call.question?.number === undefined) closeQuestion(call) // of a failed process
  },

  handed_over(conversation: Conversation, event: EventOf<"handed_over">) {
    followEvent(conversation, event)
    callOf(conversation, event.callId).expiresAt = event.expiresAt
  },

  tool_end(conversation: Conversation, event: EventOf<"tool_end">) {
    const { callId, status, text } = event
    const call = callOf(conversation, callId)
    if (call.state === "ended") throw new Error(`${conversation.id}: ${callId} has a result already`)
    closeQuestion(call)
    followEvent(conversation, event)
    applySources(conversation, event)
    const isOutside = hasUntrustedText(event)
    // Only for the model: the journal stores the original text. Cleaned for every tool.
    const seen = numbered(conversation, event, showHidden(text))
    const words = { callId, name: call.name, status, text: isOutside ? markUntrusted(callId, seen) : seen }
    const files = filesIn(event.data)
    if (files.length > 0) conversation.hasFiles = true
    rememberResult(conversation, call, files.length > 0 ? { ...words, files: { items: files } } : words)
    noteResultSeen(conversation, event, call)
    if (call.name === MORE_TOOLS && status === "ok") conversation.routing.wide = true
    if (event.state) conversation.state = { ...conversation.state, ...event.state }
    const { run } = conversation
    if (!run) return
    madeProgress(run)
    run.toolHistory.push({ callId, name: call.name, status })
    if (call.duplicateOf && event.reusedFrom === call.duplicateOf) return // A duplicate adds nothing. A write may have changed what reads would return, even if it failed midway.
    if (call.proposal && call.attempts > 0) run.reads = []
    // A read that changed the state is not reused, because its result may depend on the state.
    else if (status === "ok" && !event.state) {
      const { data, brings } = event
      run.reads.push({ callId, name: call.name, input: call.input, text, data, brings })
    }
  },

  awaiting_confirmation(conversation: Conversation, event: EventOf<"awaiting_confirmation">) {
    for (const proposed of event.proposals) open(conversation, proposed, event)
    followEvent(conversation, event)
  },

  proposal(conversation: Conversation, event: EventOf<"proposal">) {
    open(conversation, event.proposal, event)
    if (event.approvedBy === "grant") useGrant(conversation, event.proposal)
    followEvent(conversation, event)
  },

  decision(conversation: Conversation, event: EventOf<"decision">) {
    const entry = conversation.proposals.get(event.proposalId)
    if (!entry) return
    goesOnFor(conversation, event.credential)
    noteDecision(conversation, entry.proposed, event)
    if (event.decision === "commit") grant(conversation, event)
    followEvent(conversation, event)
    if (event.decision !== "edit") return
    const call = callOf(conversation, entry.proposed.callId)
    call.input = event.arguments ?? call.input
    call.isChanged ||= event.arguments !== undefined
    call.proposal = undefined
  },

  grant_revoked: revoke,

  in_doubt(conversation: Conversation, event: EventOf<"in_doubt">) {
    followEvent(conversation, event)
    const call = conversation.calls.find(({ id }) => id === event.callId)
    if (call) closeQuestion(call)
  },

  resolution(conversation: Conversation, event: EventOf<"resolution">) {
    goesOnFor(conversation, event.credential)
    followEvent(conversation, event)
    // A person who wants it repeated wants a new start, not the state of the earlier attempt.
    const call = conversation.calls.find(({ id }) => id === event.callId)
    if (event.choice === "retry" && call) {
      delete call.kept
      delete call.answers
    }
  },

  late_result(conversation: Conversation, event: EventOf<"late_result">) {
    noteResultSeen(conversation, event)
    if (conversation.run) conversation.run.reads = [] // a write was applied after all
    for (const change of followEvent(conversation, event)) {
      if (change.of !== "proposal") continue
      const name = conversation.proposals.get(change.id)?.proposed.tool ?? "a call"
      const outcome = `it has ended since: ${event.status}. ${showHidden(event.text)}`
      conversation.notes.push(`[${name} was reported as interrupted; ${outcome}]`)
    }
  },
}

/** Only a result with sources, or a reuse of one, mentions sources. */
function numbered({ stages }: Conversation, { data, reusedFrom }: EventOf<"tool_end">, text: string): string {
  const sources = sourcesIn(data)
  if (stages.numbers.size === 0 || (!sources && !reusedFrom)) return text
  return showNumbers(text, stages.numbers, sources ?? [])
}

/** Adds a proposal for its call. `followEvent` sets the state of both. */
function open(
  conversation: Conversation,
  proposed: Proposed,
  { position, at }: { position: number; at: number },
): void {
  const { run } = conversation
  if (!run) throw new Error(`${conversation.id}: ${proposed.id} was proposed outside a run`)
  const call = callOf(conversation, proposed.callId)
  call.proposal = proposed.id
  if (proposed.arguments) Object.assign(call, { input: proposed.arguments, isChanged: true })
  conversation.proposals.set(proposed.id, {
    proposed,
    runId: run.id,
    position,
    createdAt: at,
    input: call.input,
    undoes: run.undoes,
    status: "pending",
    code: undefined,
    decidedBy: undefined,
    applied: undefined,
  })
}

/**
 * After a decision the run belongs to the credential of the person who decided: it stops if that credential is revoked,
 * and no longer with the one that started it.
 */
function goesOnFor({ run }: Conversation, credential: string | undefined): void {
  if (run && credential !== undefined) run.credential = credential
}
