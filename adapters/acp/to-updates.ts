import type { SessionUpdate, ToolCallStatus } from "@agentclientprotocol/sdk"
import { describeEnding, describeNotice } from "../../client/transcript/reply-text.ts"
import { parseCursor } from "../../core/protocol/cursor.ts"
import { filesIn, formatProgress } from "../../core/protocol/conversation/tool-calls.ts"
import type { CallStatus, Message } from "../../core/protocol/conversation/message.ts"
import type { Frame } from "../../core/protocol/frames.ts"
import { type NOTICE_EVENTS, toNotice } from "../../core/protocol/notices.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import type { JsonObject } from "../../core/protocol/schema.ts"
import {
  changedLocations,
  diffContent,
  linkContent,
  toolKindOf,
  locationsOf,
  textContent,
  titleOfCall,
} from "./shown-call.ts"

/** Frames that refer to the event before them, and end nothing. */
const EXTRA_ROWS: readonly Frame["type"][] = ["text_delta", "reasoning_delta", "tool_progress", "usage"]

interface UpdateOptions {
  /** The folder that paths are relative to. */
  readonly root: string
  /** Whether the editor shows notices; otherwise they are sent as text. */
  readonly notices: boolean
}

/** How a frame relates to the editor's prompt. */
interface UpdateTarget {
  /** The message is this editor's own, which shows it already. */
  readonly isOwn?: boolean
  /** A prompt of this editor waits for the run, and gets its error. */
  readonly isAwaited?: boolean
}

/**
 * Converts the frames of a conversation to session updates. A recorded reply comes whole, a live one in deltas; the result
 * is the same.
 */
export class ToUpdates {
  readonly #how: UpdateOptions
  /** The text of the open reply that was sent. */
  #told = ""
  #thought = ""
  #open = ""
  readonly #diffs = new Map<string, Proposal>()

  constructor(how: UpdateOptions) {
    this.#how = how
  }

  of(frame: Frame, to: UpdateTarget = {}): SessionUpdate[] {
    const updates = this.#toUpdates(frame, to)
    const cursor = parseCursor(frame.id)
    // An event ends the open reply, unless its id has an offset.
    const isRow = !EXTRA_ROWS.includes(frame.type)
    if (isRow && cursor?.offset === 0) this.#told = this.#thought = this.#open = ""
    return updates
  }

  #toUpdates(frame: Frame, { isOwn = false, isAwaited = false }: UpdateTarget): SessionUpdate[] {
    switch (frame.type) {
      case "text_delta":
        this.#told += frame.data.text
        return [this.#words(frame.data.text, this.#replyId(frame.id))]
      case "reasoning_delta":
        return this.#think(frame)
      case "message":
        return frame.data.message.role === "user"
          ? userUpdates(frame.data.message, isOwn)
          : this.#reply(frame.data.message)
      case "tool_start": {
        const { callId, name, input } = frame.data
        return [{ ...this.#call(callId, name, input), sessionUpdate: "tool_call_update", status: "in_progress" }]
      }
      case "tool_progress": {
        const line = formatProgress(frame.data)
        if (line === "") return []
        const progress = {
          toolCallId: frame.data.callId,
          status: "in_progress" as const,
          content: [textContent(line)],
        }
        return [{ ...progress, sessionUpdate: "tool_call_update" }]
      }
      case "tool_end":
        return [this.#result(frame)]
      case "awaiting_confirmation":
        return frame.data.proposals.map((proposal) => this.#propose(proposal))
      case "proposal":
        return [this.#propose(frame.data.proposal)]
      case "in_doubt":
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId: frame.data.callId,
            status: "pending",
            content: [textContent(frame.data.because)],
          },
        ]
      case "late_result": {
        const { callId, status, text } = frame.data
        return [{ ...toEnd(callId, status), content: [...this.#diff(callId), textContent(text)] }]
      }
      case "settings": {
        const { mode } = frame.data
        return mode ? [{ sessionUpdate: "current_mode_update" as const, currentModeId: mode }] : []
      }
      case "run_ended":
        return isAwaited || frame.data.status === "cancelled" ? [] : this.#notice(frame)
      case "restarted":
      case "fallback":
      case "history_cut":
      case "compaction":
        return this.#notice(frame)
      default:
        return []
    }
  }

  /** An id for the deltas of a reply; the message's own id is known only at its end. */
  #replyId(cursor: string): string {
    return (this.#open ||= `reply_${parseCursor(cursor)?.position ?? 0}`)
  }

  /** Reasoning may be repeated from its beginning. */
  #think({ id, data: { text, offset } }: Frame<"reasoning_delta">): SessionUpdate[] {
    const start = offset - text.length
    if (offset <= this.#thought.length || start > this.#thought.length) return []
    const fresh = text.slice(this.#thought.length - start)
    this.#thought += fresh
    return [thought(fresh, this.#replyId(id))]
  }

  /** A whole reply: its unsent rest, its calls, and an unusual ending. */
  #reply(message: Message): SessionUpdate[] {
    const id = this.#open || message.id
    const remainingThought = remainderOf(message.reasoning?.text ?? "", this.#thought)
    const remaining = remainderOf(message.content, this.#told)
    const ending = describeEnding(message)
    return [
      ...(remainingThought === "" ? [] : [thought(remainingThought, id)]),
      ...(remaining === "" ? [] : [this.#words(remaining, id)]),
      ...(message.toolCalls ?? []).map((call): SessionUpdate => {
        const shown = this.#call(call.id, call.name, call.input)
        return { ...shown, sessionUpdate: "tool_call", status: "pending" }
      }),
      ...(ending === undefined ? [] : [this.#smallPrint(ending, `${message.id}_ending`)]),
    ]
  }

  #call(toolCallId: string, name: string, input: JsonObject) {
    const proposed = this.#diffs.get(toolCallId)
    const rawInput = proposed?.arguments ?? input
    const title = proposed?.summary ?? titleOfCall(name, rawInput)
    return { toolCallId, title, name, kind: toolKindOf(name), rawInput, locations: this.#locations(rawInput, proposed) }
  }

  #locations(input: JsonObject, proposed: Proposal | undefined) {
    const changed = changedLocations(this.#how.root, proposed?.diff ?? null)
    return changed.length > 0 ? changed : locationsOf(this.#how.root, input)
  }

  #propose(proposal: Proposal): SessionUpdate {
    const { callId, tool, arguments: input } = proposal
    this.#diffs.set(callId, proposal)
    return {
      ...this.#call(callId, tool, input),
      sessionUpdate: "tool_call_update",
      status: "pending",
      content: this.#diff(callId),
    }
  }

  #diff(callId: string) {
    return diffContent(this.#how.root, this.#diffs.get(callId)?.diff ?? null)
  }

  #result({ data: { callId, status, text, data } }: Frame<"tool_end">): SessionUpdate {
    const diff = this.#diff(callId)
    // The call is over.
    this.#diffs.delete(callId)
    const parts = diff.length > 0 && status === "ok" ? diff : [...diff, textContent(text)]
    const content = [...parts, ...filesIn(data).map(linkContent)]
    const rawOutput = { status, text, ...(data === undefined ? {} : { data }) }
    return { ...toEnd(callId, status), content, rawOutput }
  }

  #notice({ id, type, data }: Frame<(typeof NOTICE_EVENTS)[number]>): SessionUpdate[] {
    const notice = toNotice(type, data)
    const line = notice && describeNotice(notice)
    return line === undefined ? [] : [this.#smallPrint(line, `notice_${id}`)]
  }

  #smallPrint(line: string, id: string): SessionUpdate {
    if (this.#how.notices) return { sessionUpdate: "notice", severity: "info", title: line }
    return this.#words(`\n\n_${line}_\n\n`, id)
  }

  #words(text: string, messageId: string): SessionUpdate {
    return { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } }
  }
}

const thought = (text: string, messageId: string): SessionUpdate => ({
  sessionUpdate: "agent_thought_chunk",
  messageId,
  content: { type: "text", text },
})

function userUpdates({ id, content, files = [] }: Message, isOwn: boolean): SessionUpdate[] {
  if (isOwn) return []
  const chunk = { sessionUpdate: "user_message_chunk" as const, messageId: id }
  return [
    ...(content === "" ? [] : [{ ...chunk, content: { type: "text" as const, text: content } }]),
    ...files.map((file) => ({
      ...chunk,
      content: { type: "resource_link" as const, name: file.name, uri: `pawl:${file.id}`, size: file.size },
    })),
  ]
}

const toEnd = (toolCallId: string, status: CallStatus) => ({
  sessionUpdate: "tool_call_update" as const,
  toolCallId,
  status: (status === "ok" ? "completed" : "failed") satisfies ToolCallStatus as ToolCallStatus,
})

/**
 * The rest of a text after its sent part. A part that is not its beginning belongs to a failed attempt: then everything is
 * sent.
 */
const remainderOf = (whole: string, sent: string): string => (whole.startsWith(sent) ? whole.slice(sent.length) : whole)
