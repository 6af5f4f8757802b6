import type { AgUiMessage, AgUiResume } from "../../core/adapter.ts"
import {
  type ConversationId,
  failure,
  type Frame,
  isId,
  JsonObject,
  type Message,
  type MessageId,
  missingAnswer,
  type Proposal,
  type ProposalId,
  type UnknownFrame,
  type Usage,
} from "../../core/protocol/index.ts"
import { ReplyEvents, toData } from "./reply-events.ts"
import { z } from "zod"

export interface EventsHead {
  /** As the frontend named them. */
  readonly threadId: string
  readonly runId: string
  readonly conversation: ConversationId
  /** The messages that the frontend keeps. `isReset`: it has more, which are replaced. */
  readonly messages: readonly AgUiMessage[]
  readonly isReset: boolean
  /** The frontend's state; ours is merged into it. */
  readonly state: unknown
  /** The message that is answered, which the frontend shows already. */
  readonly own?: MessageId | undefined
  /** Proposals that are already open. */
  readonly open: readonly Proposal[]
  /** Calls whose results the frontend sent. */
  readonly brought?: ReadonlySet<string> | undefined
  /** Decisions that came too late, sent first. */
  readonly late: readonly object[]
}

/** A synthetic frame with the conversation's state, which tools may change. */
export const STATE_FRAME = "conversation_state"

/**
 * Converts a run to AG-UI events, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`. A restarted reply is removed by a
 * snapshot of the messages without it.
 */
export class AgUiEvents {
  readonly #head: EventsHead
  readonly #shown: AgUiMessage[]
  readonly #reply = new ReplyEvents()
  readonly #open: Map<string, Proposal>
  readonly #doubtful = new Set<string>()
  readonly #handed = new Set<string>()
  #last: Message | undefined
  #usage: Usage | undefined
  #cached = 0
  #reasoning = 0
  #begun = false
  #over = false

  constructor(head: EventsHead) {
    this.#head = head
    this.#shown = [...head.messages]
    this.#open = new Map(head.open.map((proposal) => [proposal.id, proposal]))
    for (const { status, callId } of head.open) if (status === "in_doubt") this.#doubtful.add(callId)
  }

  /** The messages that the reader shows now. */
  get messages(): readonly AgUiMessage[] {
    return this.#shown
  }

  get isOver(): boolean {
    return this.#over
  }

  translate(frame: UnknownFrame): string[] {
    const begin = this.#begun ? [] : this.#begin()
    return [...begin, ...this.#take(frame)]
  }

  #begin(): string[] {
    this.#begun = true
    const { threadId, runId, conversation, isReset, late } = this.#head
    const metadata = { pawl: { conversationId: conversation } }
    const started = { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0", metadata }
    const notes = late.map((value) => toData({ type: "CUSTOM", name: "pawl.late", value }))
    return [toData(started), ...(isReset ? [this.#snapshot()] : []), ...notes]
  }

  #take(frame: UnknownFrame): string[] {
    if (frame.type === STATE_FRAME) return this.#state(frame.data)
    const known = frame as Frame
    switch (known.type) {
      case "text_delta":
        return this.#reply.say(known.data.text, known.id)
      case "reasoning_delta":
        return this.#reply.think(known.data, known.id)
      case "restarted":
        return this.#takeBack()
      case "message":
        return this.#message(known)
      case "step":
        return this.#step(known.data)
      case "tool_progress":
        return [toData({ type: "CUSTOM", name: "pawl.progress", value: known.data })]
      case "tool_end":
        return this.#result(known.data)
      case "handed_over":
        this.#handed.add(known.data.callId)
        return []
      case "awaiting_confirmation":
        for (const proposal of known.data.proposals) this.#open.set(proposal.id, proposal)
        return []
      case "proposal":
        // A proposal that a policy approved does not wait.
        if (known.data.replaces) this.#open.delete(known.data.replaces)
        if (!known.data.approvedBy) this.#open.set(known.data.proposal.id, known.data.proposal)
        return []
      case "decision":
        if (known.data.decision === "edit") this.#open.delete(known.data.proposalId)
        return []
      case "in_doubt":
        this.#doubtful.add(known.data.callId)
        return []
      case "usage":
        this.#usage = known.data
        return []
      case "error":
        this.#over = true
        return [...this.#close(), toData({ type: "RUN_ERROR", ...known.data, ...this.#counted() })]
      case "done":
        this.#over = true
        return [...this.#close(), ...this.#done(known), this.#finished(known.data.status)]
      default:
        return []
    }
  }

  #state(state: unknown): string[] {
    if (typeof state !== "object" || state === null || Object.keys(state).length === 0) return []
    const theirs = this.#head.state
    const base = typeof theirs === "object" && theirs !== null && !Array.isArray(theirs) ? theirs : {}
    return [toData({ type: "STATE_SNAPSHOT", snapshot: { ...base, ...state } })]
  }

  #message({ id, data: { message } }: Frame<"message">): string[] {
    if (message.role === "user") return message.id === this.#head.own ? [] : this.#others(message)
    if (message.role !== "assistant") return []
    this.#last = message
    // The usage of the whole run has no such parts.
    this.#cached += message.usage?.cachedTokens ?? 0
    this.#reasoning += message.usage?.reasoningTokens ?? 0
    const { lines, shown } = this.#reply.end(message, id)
    this.#shown.push(...shown)
    return lines
  }

  /** A message from another client. */
  #others({ id, content }: Pick<AgUiMessage, "id" | "content">): string[] {
    this.#shown.push({ id, role: "user", content })
    return [
      { type: "TEXT_MESSAGE_START", messageId: id, role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: content },
      { type: "TEXT_MESSAGE_END", messageId: id },
    ].map(toData)
  }

  #step({ step: stepName, detail }: Frame<"step">["data"]): string[] {
    const metadata = detail === undefined ? {} : { metadata: { detail } }
    return [toData({ type: "STEP_STARTED", stepName, ...metadata }), toData({ type: "STEP_FINISHED", stepName })]
  }

  #result({ callId, messageId, text, status, data }: Frame<"tool_end">["data"]): string[] {
    for (const [id, proposal] of this.#open) if (proposal.callId === callId) this.#open.delete(id)
    this.#doubtful.delete(callId)
    this.#handed.delete(callId)
    if (this.#head.brought?.has(callId)) return []
    const result = { messageId, toolCallId: callId, content: text, role: "tool" }
    this.#shown.push({ id: messageId, role: "tool", content: text, toolCallId: callId })
    const metadata = { status, ...(data === undefined ? {} : { data }) }
    return [toData({ type: "TOOL_CALL_RESULT", ...result, metadata })]
  }

  #takeBack(): string[] {
    const lines = this.#close()
    return this.#reply.drop() ? [...lines, this.#snapshot()] : lines
  }

  #close(): string[] {
    return this.#reply.close()
  }

  #snapshot(): string {
    return toData({ type: "MESSAGES_SNAPSHOT", messages: this.#shown })
  }

  /** A frontend shows only messages: if a completed run has no answer, one explains why. */
  #done({ id, data: { status } }: Frame<"done">): string[] {
    const content = status === "completed" ? missingAnswer(this.#last) : undefined
    if (content === undefined) return []
    const told = this.#reply.say(content, id)
    const { lines, shown } = this.#reply.end({ content, toolCalls: null }, id)
    this.#shown.push(...shown)
    return [...told, ...lines]
  }

  #finished(status: Frame<"done">["data"]["status"]): string {
    const { threadId, runId } = this.#head
    const end = { type: "RUN_FINISHED", threadId, runId, ...this.#counted() }
    if (status === "cancelled") return toData({ ...end, outcome: { type: "cancelled" } })
    if (status === "completed") return toData({ ...end, outcome: { type: "success" } })
    if (this.#open.size === 0 && this.#handed.size > 0)
      return toData({ ...end, outcome: { type: "success", pendingToolCallIds: [...this.#handed] } })
    const interrupts = [...this.#open.values()].map((each) => toInterrupt(each, this.#doubtful.has(each.callId)))
    return toData({ ...end, outcome: { type: "interrupt", interrupts } })
  }

  /** Empty if the provider counted nothing: zeros would look like a count. */
  #counted(): object {
    const { provider, inputTokens: input = null, outputTokens: output = null } = this.#usage ?? {}
    if (input === null && output === null) return {}
    const [inputTokens, outputTokens] = [input ?? 0, output ?? 0]
    const parts = { cachedInputTokens: this.#cached, reasoningTokens: this.#reasoning }
    const total = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...parts }
    return { usage: [{ ...(provider ? { provider } : {}), ...total }] }
  }
}

/** A person's answer to a proposal. */
export type InterruptAnswer =
  | { readonly type: "approve" }
  | { readonly type: "reject"; readonly reason?: string | undefined }
  | { readonly type: "edit"; readonly edited: JsonObject }
  | { readonly type: "resolve"; readonly choice: "retry" | "done" | "abandon" }

const reason = { type: "string", description: "Why not." }
const editedArgs = { type: "object", description: "Other arguments, which are proposed in the place of these." }

/** The schemas of answers to a proposal, and to a write in doubt. */
const TO_PROPOSAL = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason, editedArgs },
  required: ["approved"],
}
const TO_DOUBT = {
  type: "object",
  properties: { choice: { type: "string", enum: ["retry", "done", "abandon"] } },
  required: ["choice"],
}

/** A proposal as an AG-UI interrupt with the same id: any client may decide it. */
function toInterrupt(proposal: Proposal, isDoubtful: boolean): object {
  const { id, callId, summary, expiresAt } = proposal
  const about = { id, message: summary, toolCallId: callId, metadata: { proposal } }
  if (isDoubtful) return { ...about, reason: "pawl:in_doubt", responseSchema: TO_DOUBT }
  return { ...about, reason: "tool_call", responseSchema: TO_PROPOSAL, expiresAt }
}

const Payload = z.union([
  z.object({ choice: z.enum(["retry", "done", "abandon"]) }),
  z.object({ approved: z.boolean(), reason: z.string().max(2000).nullish(), editedArgs: JsonObject.nullish() }),
])

/** Parses an answer. A cancelled entry approves nothing. */
export function decisionIn({ status, payload }: AgUiResume, field: string, isDoubtful: boolean): InterruptAnswer {
  if (status === "cancelled") return isDoubtful ? { type: "resolve", choice: "abandon" } : { type: "reject" }
  const { data } = Payload.safeParse(payload)
  if (!data)
    throw problem(`${field}.payload: send {approved: true}, {approved: false, reason} or {approved, editedArgs}`)
  if ("choice" in data) return { type: "resolve", choice: data.choice }
  if (isDoubtful) throw problem(`${field}.payload: it is not known whether this was done; send {choice}`)
  if (!data.approved) return { type: "reject", reason: data.reason ?? undefined }
  return data.editedArgs ? { type: "edit", edited: data.editedArgs } : { type: "approve" }
}

/** The proposal of an entry. Throws `not_found` for an invalid id. */
export function proposalIdOf({ interruptId }: AgUiResume): ProposalId {
  if (!isId("prop", interruptId)) throw failure("not_found")
  return interruptId
}

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
