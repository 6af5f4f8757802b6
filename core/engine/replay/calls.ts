import type { EventOf } from "../../protocol/events.ts"
import { filesIn } from "../../protocol/conversation/tool-calls.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { showHidden } from "../../shared/text/hidden-words.ts"
import { callOf, followEvent } from "../calls/follow.ts"
import { type Conversation, madeProgress } from "../conversation.ts"
import { grant, revoke, useGrant } from "../gate/grants.ts"
import { rememberResult } from "../history/history.ts"
import { noteDecision } from "./messages.ts"
import { MORE_TOOLS } from "../definition/agent.ts"
import { asOutside } from "../untrusted-text.ts"
import { applySources, closeQuestion } from "./stages.ts"
import { showNumbers, sourcesIn } from "../history/source-numbers.ts"
import { hasTextOfOthers, noteResultSeen } from "../gate/taint.ts"

/**
 * The part of the fold that follows calls and proposals. How far each of them is, `follow` says, as it does to everybody;
 * what else a row means to the loop stands here. Pairing is kept here, by recorded states.
 */
export const applyCalls = {
  tool_start(conversation: Conversation, event: EventOf<"tool_start">) {
    followEvent(conversation, event)
    const call = callOf(conversation, event.callId)
    call.attempts++
    call.startedAt = event.at
    closeQuestion(call) // of a process that has died
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
    const isOutside = hasTextOfOthers(event)
    // Here and not in the journal, which says what came: cleaned on its way to the model, whatever tool it came from.
    const seen = numbered(conversation, event, showHidden(text))
    const words = { callId, name: call.name, status, text: isOutside ? asOutside(callId, seen) : seen }
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
    if (call.duplicateOf && event.reusedFrom === call.duplicateOf) return // it says no more than the first
    // A write may have changed what reads would find; even a failed one may have got half-way.
    if (call.proposal && call.attempts > 0) run.reads = []
    // One that has changed the state is asked anew: what came after it may have changed it again, and the answer with it.
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
    // Who has it done again wants it begun anew, not to hear of what was begun before.
    const call = conversation.calls.find(({ id }) => id === event.callId)
    if (event.choice === "retry" && call?.kept) delete call.kept
  },

  late_result(conversation: Conversation, event: EventOf<"late_result">) {
    noteResultSeen(conversation, event)
    if (conversation.run) conversation.run.reads = [] // a write has landed after all
    for (const change of followEvent(conversation, event)) {
      if (change.of !== "proposal") continue
      const name = conversation.proposals.get(change.id)?.proposed.tool ?? "a call"
      const said = `it has ended since: ${event.status}. ${showHidden(event.text)}`
      conversation.notes.push(`[${name} was reported as interrupted; ${said}]`)
    }
  },
}

/** Only what has found something, or repeats that, speaks of sources. */
function numbered({ stages }: Conversation, { data, reusedFrom }: EventOf<"tool_end">, text: string): string {
  const sources = sourcesIn(data)
  if (stages.numbers.size === 0 || (!sources && !reusedFrom)) return text
  return showNumbers(text, stages.numbers, sources ?? [])
}

/** Files a proposal beside its call; `follow` says how far both are. */
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
 * From a decision on the run belongs to the credential of the person who decided: it stops when that one is revoked, no
 * longer with the one that began it.
 */
function goesOnFor({ run }: Conversation, credential: string | undefined): void {
  if (run && credential !== undefined) run.credential = credential
}
