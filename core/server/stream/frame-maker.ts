import { addUsage } from "../../engine/add-usage.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { type Cursor, toCursor } from "../../protocol/cursor.ts"
import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId, RunId, CallId, ProposalId } from "../../protocol/ids.ts"
import { type CallPart, type Message, reasoningOf, type Usage } from "../../protocol/conversation/message.ts"
import { isSettled, type Proposal, type Proposed } from "../../protocol/proposals/proposal.ts"
import { type CallState, pauseReasonOf } from "../../protocol/calls/call-state.ts"
import {
  type CallChange,
  firstOfEach,
  followCalls,
  type Followed,
  type FollowedCall,
  type FollowedProposal,
  isAboutCalls,
} from "../../protocol/calls/follow-calls.ts"

export type AnyFrame = Frame | UnknownFrame

/**
 * Converts journal events to frames. It tracks what later events of a run refer to, such as the name of a call, so it must
 * see a run from its start.
 */
export class FrameMaker {
  readonly #conversation: ConversationId
  /** Undefined between runs: thousands of watchers may be idle. */
  #calls: PendingCalls | undefined
  #run: RunId | undefined
  #usage: Usage | undefined

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
  }

  /** The frames of an event, for a client that has seen `offset` characters of the reply before it. */
  rows(event: JournalEvent | UnknownEvent, offset: number): AnyFrame[] {
    const at = new Date(event.at).toISOString()
    if (!isKnown(event)) return [toPlainFrame(event, at)]
    const before = this.#calls?.paused ?? false
    if (event.type === "run_started" || event.type === "message") this.#calls ??= new PendingCalls()
    this.#calls?.add(event)
    const frames = this.#toFrames(event, { at, offset })
    if (event.type === "run_ended") this.#calls = undefined
    if (before || !this.#calls?.paused) return frames
    const id = String(event.position)
    return [...frames, ...this.#total(id), { id, type: "done", data: { status: "paused" } }]
  }

  #toFrames(event: JournalEvent, { at, offset }: { at: string; offset: number }): AnyFrame[] {
    const id = String(event.position)
    switch (event.type) {
      case "run_started":
        this.#run = event.runId
        this.#usage = undefined
        return [toPlainFrame(event, at)]
      case "step":
      case "compaction":
        if (event.asked?.usage) this.#usage = addUsage(this.#usage, event.asked.usage)
        return [toPlainFrame(event, at)]
      case "message":
        return this.#message(event, { id, at, offset })
      case "tool_start": {
        const { name = "", input = {} } = this.#calls?.part(event.callId) ?? {}
        return [{ id, type: event.type, data: { callId: event.callId, name, input, at } }]
      }
      case "handed_over": {
        const { callId } = event
        const { name = "", input = {} } = this.#calls?.part(callId) ?? {}
        const expiresAt = new Date(event.expiresAt).toISOString()
        return [{ id, type: event.type, data: { callId, name, input, expiresAt, at } }]
      }
      case "tool_end": {
        const { callId, status, text, data, ms, code, reusedFrom, seq } = event
        const { name = "" } = this.#calls?.part(callId) ?? {}
        const ended = { callId, name, status, text, data, ms, code, reusedFrom, messageId: event.id, seq, at }
        return [{ id, type: event.type, data: ended } as Frame]
      }
      case "awaiting_confirmation": {
        const proposals = event.proposals.map((proposed) => this.#proposal(proposed, { at, status: "pending" }))
        return [{ id, type: event.type, data: { proposals, at } }]
      }
      case "proposal": {
        const { replaces, approvedBy } = event
        const proposal = this.#proposal(event.proposal, { at, status: approvedBy ? "applying" : "pending" })
        return [{ id, type: event.type, data: { proposal, replaces, approvedBy, at } } as Frame]
      }
      case "run_ended":
        return this.#ended(event, { id, at })
      default:
        return [toPlainFrame(event, at)]
    }
  }

  /** Text of the open reply; the cursor is its end. */
  static text(text: string, end: Cursor): Frame {
    return { id: toCursor(end), type: "text_delta", data: { text } }
  }

  #message(event: EventOf<"message">, { id, at, offset }: { id: string; at: string; offset: number }): AnyFrame[] {
    const { parts, finish, model, usage, role, brought, files, settings, schema, data } = event
    const calls = parts.filter((part) => part.type === "call")
    if (usage) this.#usage = addUsage(this.#usage, usage)
    const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    const toolCalls = calls.length > 0 ? calls.map(({ id, name, input }) => ({ id, name, input })) : null
    const message: Message = {
      id: event.id,
      seq: event.seq,
      role,
      content,
      toolCalls,
      toolCallId: null,
      createdAt: at,
      ...(brought ? { brought } : {}),
      ...(settings ? { settings } : {}),
      ...(files ? { files } : {}),
      ...(schema ? { schema } : {}),
      ...(data === undefined ? {} : { data }),
    }
    const reasoning = reasoningOf(parts)
    const written = { finish, model, usage, ...(reasoning ? { reasoning } : {}) }
    const frame = { id, type: "message", data: { message: { ...message, ...written }, at } } as Frame
    // A client that has not seen the whole text gets the rest as a delta, the same from any cursor.
    const rest = role === "assistant" ? content.slice(wholeUnits(content, offset)) : ""
    if (rest === "") return [frame]
    return [FrameMaker.text(rest, { position: event.position - 1, offset: content.length }), frame]
  }

  #ended(event: EventOf<"run_ended">, { id, at }: { id: string; at: string }): AnyFrame[] {
    const { status, reason, error } = event
    const runId = this.#run ?? ("run_0" as RunId)
    const row = { id, type: "run_ended", data: { runId, status, reason, error, at } } as Frame
    const problem = error ?? { code: "internal", message: "The run failed." }
    const last: Frame =
      status === "failed" ? { id, type: "error", data: problem } : { id, type: "done", data: { status } }
    return [row, ...this.#total(id), last]
  }

  #total(id: string): AnyFrame[] {
    return this.#usage && this.#run ? [{ id, type: "usage", data: { ...this.#usage, runId: this.#run } }] : []
  }

  #proposal(proposed: Proposed, { at, status }: Pick<Proposal, "status"> & { at: string }): Proposal {
    const { id, callId, tool, action, summary, title, diff = null, undoable, version, hash } = proposed
    return {
      id,
      conversationId: this.#conversation,
      runId: this.#run ?? ("run_0" as RunId),
      callId,
      tool,
      action,
      summary,
      arguments: proposed.arguments ?? this.#calls?.part(callId)?.input ?? {},
      diff,
      undoable,
      ...(title === undefined ? {} : { title }),
      ...(proposed.insists ? { insists: true } : {}),
      ...(proposed.sends ? { sends: true } : {}),
      ...(proposed.reason === undefined ? {} : { reason: proposed.reason }),
      ...(proposed.commandLine === undefined ? {} : { commandLine: proposed.commandLine }),
      version,
      hash,
      status,
      createdAt: at,
      expiresAt: new Date(proposed.expiresAt).toISOString(),
    }
  }
}

/** An event that needs no context, also of a newer version. */
function toPlainFrame(event: JournalEvent | UnknownEvent, at: string): UnknownFrame {
  // Not for clients: the credential (for revocation), the text shown by a failed attempt (for the loop), the trace (for
  // tracing).
  const {
    type,
    version: _,
    position,
    at: __,
    credential: ___,
    shown: ____,
    trace: _____,
    ...data
  } = event as UnknownEvent & { credential?: string; shown?: string; trace?: string }
  return { id: String(position), type, data: { ...data, at } }
}

/** The offset, moved out of the middle of a surrogate pair. */
export function wholeUnits(text: string, offset: number): number {
  const unit = text.charCodeAt(offset)
  return unit >= 0xdc00 && unit <= 0xdfff && offset > 0 ? offset - 1 : offset
}

interface Pending extends FollowedCall {
  part: CallPart
  state: CallState
  proposal: ProposalId | undefined
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** The calls of a run's newest reply, with their arguments and states. */
export class PendingCalls implements Followed {
  readonly #calls = new Map<CallId, Pending>()
  readonly #proposals = new Map<ProposalId, Mutable<FollowedProposal>>()

  part(id: CallId): CallPart | undefined {
    return this.#calls.get(id)?.part
  }

  /** Whether the run waits for a person. */
  get paused(): boolean {
    return pauseReasonOf(this.#calls.values()) !== undefined
  }

  calls(): Iterable<FollowedCall> {
    return this.#calls.values()
  }

  proposal(id: ProposalId): FollowedProposal | undefined {
    return this.#proposals.get(id)
  }

  openProposal(callId: CallId): FollowedProposal | undefined {
    const id = this.#calls.get(callId)?.proposal
    const proposal = id && this.#proposals.get(id)
    return proposal && !isSettled(proposal.status) ? proposal : undefined
  }

  add(event: JournalEvent): void {
    if (event.type === "run_started" || event.type === "run_ended") return this.#clear()
    if (event.type === "message") return this.#call(event.parts.filter((part) => part.type === "call"))
    if (!isAboutCalls(event)) return
    if (event.type === "awaiting_confirmation") for (const proposed of event.proposals) this.#propose(proposed)
    if (event.type === "proposal") this.#propose(event.proposal)
    for (const change of followCalls(event.type, event, this)) this.#change(change)
  }

  #clear(): void {
    this.#calls.clear()
    this.#proposals.clear()
  }

  #call(parts: readonly CallPart[]): void {
    const firstOf = firstOfEach(parts)
    for (const part of parts) {
      const { id, name } = part
      const duplicateOf = firstOf.get(id)
      const state = duplicateOf ? "duplicate" : "new"
      this.#calls.set(id, { id, name, part, state, duplicateOf, proposal: undefined })
    }
  }

  #propose(proposed: Proposed): void {
    this.#proposals.set(proposed.id, { proposed, status: "pending", decidedBy: undefined })
    const call = this.#calls.get(proposed.callId)
    if (!call) return
    call.proposal = proposed.id
    // From here on the call is shown with the arguments that a person edited.
    if (proposed.arguments) call.part = { ...call.part, input: proposed.arguments }
  }

  #change(change: CallChange): void {
    if (change.of === "call") {
      const call = this.#calls.get(change.id)
      if (call) call.state = change.state
      return
    }
    const proposal = this.#proposals.get(change.id)
    if (!proposal) return
    if (change.status !== undefined) proposal.status = change.status
    if (change.by !== undefined) proposal.decidedBy = change.by
  }
}
