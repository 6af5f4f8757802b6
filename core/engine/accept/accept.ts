import type { Part } from "../../protocol/conversation/message.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { type MessageId, newId, type ProposalId, type RunId } from "../../protocol/ids.ts"
import { declareClientTools } from "../calls/client-tools.ts"
import { toolEnd } from "../calls/tool-end.ts"
import { type Call, type Conversation, isServerRun, pauseReason, type RunState } from "../conversation.ts"
import { isRevocable } from "../gate/grants.ts"
import { isWider } from "../gate/policy.ts"
import { messageExtras } from "../history/history.ts"
import { concernsRun } from "../inbox.ts"
import type { AgainInput, CancelInput, ClientResultsInput, Input, MessageInput, RunSite, UndoInput } from "../input.ts"
import { acceptResults, expiredCalls, SETTLED_TEXT, settleOpenCalls } from "./settle-calls.ts"

interface Accepting {
  readonly now: number
  /** The limit of a run whose message does not set one. */
  readonly maxIterations: number
  /** The server's zone, for users whose zone is unknown. It is recorded, so that no other node uses its own. */
  readonly timeZone: string
  /** The input's number in the inbox, if it was there. */
  readonly number?: number
}

/**
 * Returns the events that an input becomes. Pure. Input that was overtaken (a decision about a settled call, a cancel
 * of a finished run) becomes no events.
 */
export function accept(conversation: Conversation, input: Input, accepting: Accepting): NewEvent[] {
  switch (input.type) {
    case "message":
      return acceptMessage(conversation, input, accepting)
    case "decide":
      return acceptDecision(conversation, input, accepting.now)
    case "edit": {
      const pending = isPending(conversation, input.proposalId)
      const { proposalId, by, credential } = input
      const edit = { type: "decision", proposalId, decision: "edit", by, arguments: input.arguments } as const
      return pending ? [{ ...edit, ...(credential ? { credential } : {}) }] : []
    }
    case "resolve":
      return acceptResolution(conversation, input)
    case "cancel":
      return acceptCancel(conversation, input, accepting)
    case "resume":
      return acceptResume(conversation, input, accepting)
    case "compact":
      return acceptCompact(conversation, input, accepting)
    case "revoke": {
      const { type: _, ...given } = input
      return isRevocable(conversation, given.tool) ? [{ type: "grant_revoked", ...given }] : []
    }
    case "client_results":
      return acceptResults(conversation, input, accepting.now)
    case "answer":
      return [] // the call that asked has taken it, or has ended
    case "undo":
      return acceptUndo(conversation, input, accepting)
    case "again":
      return acceptAgain(conversation, input, accepting)
    case "settings":
      return acceptSettings(conversation, input)
    case "late_result":
      return acceptLateResult(conversation, input)
  }
}

function acceptMessage(conversation: Conversation, input: MessageInput, accepting: Accepting): NewEvent[] {
  if (conversation.said.includes(input.id)) return [] // sent again because the response was lost
  const { now, maxIterations } = accepting
  const zone = input.timeZone ? { timeZone: input.timeZone } : {}
  const words: NewEvent = {
    ...toWords(input.id, conversation.seq + 1, input.text),
    ...zone,
    ...messageExtras(conversation, input),
  }
  if (conversation.run?.status === "running" && !pauseReason(conversation)) return [words]
  const limit = input.maxIterations ?? maxIterations
  const { credential, attended, trace, rootRun } = input
  const start: NewEvent = {
    type: "run_started",
    runId: newRun(conversation, now),
    maxIterations: limit,
    ...(credential ? { credential } : {}),
    ...(attended ? { attended } : {}),
    ...zoneOf(conversation, accepting),
    ...zone,
    ...(trace ? { trace } : {}),
    ...(rootRun ? { rootRun } : {}),
  }
  // After open proposals are settled at their original location, and in the commit of the message, because nothing
  // moves without it.
  const settled = supersede(conversation, now, input.results)
  return [...settled, ...moveTo(conversation, input.place), start, words, ...declareClientTools(input.clientTools)]
}

/** Only the changes, because messages before this one in the queue may have moved the conversation, too. */
function moveTo({ site, deviceId, connectionId }: Conversation, place: RunSite = {}): NewEvent[] {
  const device = site === "device" && place.deviceId !== undefined && place.deviceId !== deviceId
  const connection = place.connectionId !== undefined && place.connectionId !== connectionId
  if (!device && !connection) return []
  return [
    {
      type: "settings",
      ...(device ? { deviceId: place.deviceId } : {}),
      ...(connection ? { connectionId: place.connectionId } : {}),
    },
  ]
}

function acceptUndo(conversation: Conversation, input: UndoInput, accepting: Accepting): NewEvent[] {
  const { auditId: undoes, summary, callId, inverse, credential } = input
  const call = { id: callId, name: inverse.tool, input: inverse.input }
  const about = { undoes, ...(credential ? { credential } : {}) }
  return ownRun(conversation, accepting, { about, words: `Undo: ${summary}`, call })
}

/**
 * While its run still waits for it, the call is proposed again as after an edit without changes; otherwise in a run of
 * its own.
 */
function acceptAgain(conversation: Conversation, input: AgainInput, accepting: Accepting): NewEvent[] {
  const { proposalId, summary, tool, arguments: given, callId, undoes, by, credential } = input
  const who = { by, ...(credential ? { credential } : {}) }
  if (isPending(conversation, proposalId)) return [{ type: "decision", proposalId, decision: "edit", ...who }]
  const about = { again: proposalId, ...(undoes ? { undoes } : {}), ...(credential ? { credential } : {}) }
  const call = { id: callId, name: tool, input: given }
  return ownRun(conversation, accepting, { about, words: `Propose again: ${summary}`, call })
}

interface OwnRun {
  readonly about: Partial<Extract<NewEvent, { type: "run_started" }>>
  readonly words: string
  readonly call: Omit<Extract<Part, { type: "call" }>, "type">
}

/**
 * A run with the same events as any other, but started by the server instead of the model, so that every write takes
 * one path.
 */
function ownRun(conversation: Conversation, accepting: Accepting, { about, words, call }: OwnRun): NewEvent[] {
  const { now } = accepting
  const seq = conversation.seq + 1
  const start = { type: "run_started", runId: newRun(conversation, now), maxIterations: 1 } as const
  const parts: Part[] = [{ type: "call", ...call }]
  return [
    ...supersede(conversation, now),
    { ...start, ...about, ...zoneOf(conversation, accepting) },
    toWords(newId("msg", conversation.user, now), seq, words),
    {
      type: "message",
      id: newId("msg", conversation.user, now),
      seq: seq + 1,
      role: "assistant",
      parts,
      finish: "calls",
    },
  ]
}

/** Ends a run that waits for a person. */
function supersede(conversation: Conversation, now: number, results?: ClientResultsInput): NewEvent[] {
  if (conversation.run?.status !== "running") return []
  const end: NewEvent = { type: "run_ended", status: "cancelled", reason: "superseded" }
  const brought = results ? acceptResults(conversation, results, now) : []
  const ended = new Set(brought.map((event) => ("callId" in event ? event.callId : undefined)))
  const rest = settleOpenCalls(conversation, "superseded", now).filter(
    (event) => !("callId" in event) || !ended.has(event.callId),
  )
  return [...brought, ...rest, end]
}

const zoneOf = ({ timeZone: last }: Conversation, { timeZone }: Accepting) => ({ timeZone: last ?? timeZone })

const toWords = (id: MessageId, seq: number, text: string): Extract<NewEvent, { type: "message" }> => ({
  type: "message",
  id,
  seq,
  role: "user",
  parts: [{ type: "text", text }],
})

/**
 * Messages queued before the cancel are held, except if it concerns one run only. A message after it starts the next
 * run.
 */
function acceptCancel(conversation: Conversation, input: CancelInput, { now, number }: Accepting): NewEvent[] {
  const { run } = conversation
  if (run?.status !== "running" || !concernsRun(run, input)) return []
  const heldUpTo = input.run === undefined ? (number ?? conversation.arrivals) : 0
  return [...settleOpenCalls(conversation, "cancelled", now), { type: "run_ended", status: "cancelled", heldUpTo }]
}

function acceptDecision(
  conversation: Conversation,
  input: Extract<Input, { type: "decide" }>,
  now: number,
): NewEvent[] {
  const { proposalId, decision, by, reason, credential } = input
  const call = isPending(conversation, proposalId) && callOfProposal(conversation, proposalId)
  if (!call) return []
  const event: NewEvent = {
    type: "decision",
    proposalId,
    decision,
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(credential ? { credential } : {}),
  }
  if (decision === "commit") return [input.grant ? { ...event, grant: input.grant } : event]
  const text = reason ? `The person rejected this: ${reason}` : "The person rejected this. Do not try it again unasked."
  return [event, toolEnd(conversation, call, { status: "rejected", text, now })]
}

function acceptResolution(conversation: Conversation, input: Extract<Input, { type: "resolve" }>): NewEvent[] {
  const proposal = conversation.proposals.get(input.proposalId)
  if (proposal?.status !== "in_doubt") return []
  const { callId } = proposal.proposed
  const { choice, by, credential } = input
  const resolution: NewEvent = { type: "resolution", callId, choice, by, ...(credential ? { credential } : {}) }
  const call = conversation.calls.find((open) => open.id === callId && open.state === "in_doubt")
  if (!call) return input.choice === "retry" ? [] : [resolution]
  if (input.choice === "retry") return [resolution]
  const end =
    input.choice === "done"
      ? ({ status: "ok", text: "The connection broke off; the person has checked and says it was done." } as const)
      : ({
          status: "in_doubt",
          text: "It is not known whether this was done; the person has left it at that.",
        } as const)
  return [toolEnd(conversation, call, { ...end, now: call.startedAt }), resolution]
}

/** Continues after a failed or cancelled run from the journal, without repeating the message. */
function acceptResume(
  conversation: Conversation,
  { by: person, credential, asks, trace }: Extract<Input, { type: "resume" }>,
  accepting: Accepting,
): NewEvent[] {
  const { now, maxIterations } = accepting
  const unfinished = unfinishedRun(conversation)
  if (unfinished) {
    const most = Math.max(maxIterations, unfinished.maxIterations)
    // Anyone may resume it, but it keeps the restrictions of the caller who started it.
    const by = { ...(credential ? { credential } : {}), ...(asks || unfinished.asks ? ({ asks: true } as const) : {}) }
    const asked = { ...by, ...(trace ? { trace } : {}) }
    const start = {
      runId: newRun(conversation, now),
      maxIterations: most,
      ...asked,
      ...zoneOf(conversation, accepting),
    }
    const compacts = unfinished === conversation.run && conversation.run.compacts
    return compacts ? startCompacting(start, person) : [{ type: "run_started", ...start }]
  }
  if (!pauseReason(conversation)) return []
  return expiredCalls(conversation, now).map((call) =>
    call.state === "handed_over"
      ? { ...toolEnd(conversation, call, { status: "expired", text: SETTLED_TEXT.unanswered, now }), by: person }
      : toolEnd(conversation, call, { status: "expired", text: SETTLED_TEXT.expired, now }),
  )
}

function acceptLateResult(conversation: Conversation, input: Extract<Input, { type: "late_result" }>): NewEvent[] {
  const { status, text, type, callId, whileInDoubt, attempt, ...effect } = input
  const call = conversation.calls.find((open) => open.id === callId && open.state === "in_doubt")
  // The failure of an earlier attempt says nothing about the attempt in doubt. Reported as "not done", the write would
  // be repeated.
  if (call && status === "error" && attempt !== undefined && attempt < call.attempts) return []
  if (call) return [{ ...toolEnd(conversation, call, { status, text, now: conversation.at }), ...effect }]
  return whileInDoubt ? [] : [{ type, callId, status, text, ...effect }]
}

function isPending(conversation: Conversation, id: ProposalId): boolean {
  return conversation.proposals.get(id)?.status === "pending"
}

function callOfProposal(conversation: Conversation, id: ProposalId): Call | undefined {
  return conversation.calls.find((call) => call.proposal === id && call.state === "proposed")
}

const newRun = ({ user }: Conversation, now: number): RunId => newId("run", user, now)

interface Moment {
  readonly now: number
  readonly timeZone: string
}

/**
 * A running run summarizes before its next reply. A run that waits for a person keeps waiting, and its proposals stay
 * open. An idle conversation gets a run of its own, which can be cancelled, resumed, billed and taken over like any
 * other.
 */
function acceptCompact(
  conversation: Conversation,
  { by, credential }: Extract<Input, { type: "compact" }>,
  { now, timeZone }: Moment,
): NewEvent[] {
  const { run, compaction, user } = conversation
  if (run?.status === "running") return isServerRun(run) || compaction.due ? [] : [asked(by)]
  const who = { ...(credential ? { credential } : {}), timeZone: conversation.timeZone ?? timeZone }
  return startCompacting({ runId: newId("run", user, now), maxIterations: 1, ...who }, by)
}

type RunStart = Omit<Extract<NewEvent, { type: "run_started" }>, "type" | "compacts">

/**
 * A run that only summarizes. Older versions know `run_started` without `compacts` and would continue with the model;
 * they leave the conversation alone because the second event is unknown to them.
 */
const startCompacting = (start: RunStart, by: string): NewEvent[] => [
  asked(by),
  { type: "run_started", ...start, compacts: true },
]

const asked = (by: string): NewEvent => ({ type: "compaction", what: "due", because: "asked", by })

type SettingsInput = Extract<Input, { type: "settings" }>

/** True if an input only narrows the mode or sets the current one. */
export function onlyNarrows({ mode: current }: Pick<Conversation, "mode">, input: SettingsInput): boolean {
  const { type: _, mode, mayNotWiden: __, ...others } = input
  return mode !== undefined && Object.keys(others).length === 0 && !isWider(mode, current)
}

/**
 * Settings become one event. Whether a title is accepted is decided here, in the order of the journal: a model's title
 * does not replace a user's.
 */
function acceptSettings(conversation: Conversation, input: SettingsInput): NewEvent[] {
  const { titled, mode: current } = conversation
  // Accepted also if storage is full, so it must write nothing. Otherwise a client could fill the disk with it.
  if (input.mode === current && onlyNarrows(conversation, input)) return []
  const { type, fallback, title, mode, mayNotWiden, ...others } = input
  // `refuseInput` refused it when it was sent, but an input before it in the inbox may have narrowed the mode since.
  const mayChange = mode !== undefined && !(mayNotWiden && isWider(mode, current))
  const isLate = input.titledBy !== undefined && titled !== undefined
  const named = title === undefined || isLate ? {} : { title }
  const list = fallback === undefined ? {} : { fallback: fallback && [...fallback] }
  const changes = { ...others, ...(mayChange ? { mode } : {}), ...named, ...list }
  return Object.keys(changes).length > 0 || mode === undefined ? [{ type, ...changes }] : []
}

/** The run to resume: the last one if it failed or was cancelled; if that was a summary, the run before it. */
export function unfinishedRun({ run }: Conversation): RunState["before"] {
  if (!run || run.status === "running") return undefined
  return [run.before, run].find((each) => each?.status === "failed" || each?.status === "cancelled")
}
