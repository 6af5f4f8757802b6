import type { SessionUpdate, ToolCallStatus } from "@agentclientprotocol/sdk"
import { describeEnding, describeNotice } from "../../client/transcript/reply-words.ts"
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

/** Frames that are about a row before them, and end nothing. */
const BESIDE_ROWS: readonly Frame["type"][] = ["text_delta", "reasoning_delta", "tool_progress", "usage"]

export interface ToldHow {
  /** The folder that paths are below. */
  readonly root: string
  /** Whether small print is shown as such; otherwise it is told as words. */
  readonly notices: boolean
}

/** Whose words a frame may hold. */
export interface ToldTo {
  /** The words are this editor's own, which shows them already. */
  readonly isOwn?: boolean
  /** A prompt of this editor waits for the end of the run, and is told there why it failed. */
  readonly isAwaited?: boolean
}

/**
 * The frames of one conversation, one after the other, as what an editor is told: the same from a journal that is read
 * again as from one that is being written, except that a reply comes whole in the first case and word by word in the second.
 */
export class ToUpdates {
  readonly #how: ToldHow
  /** What was told of the reply that is open. */
  #told = ""
  #thought = ""
  #open = ""
  readonly #diffs = new Map<string, Proposal>()

  constructor(how: ToldHow) {
    this.#how = how
  }

  of(frame: Frame, to: ToldTo = {}): SessionUpdate[] {
    const updates = this.#toUpdates(frame, to)
    const cursor = parseCursor(frame.id)
    // A row ends the reply that was open, unless its id says that the reply goes on.
    const isRow = !BESIDE_ROWS.includes(frame.type)
    if (isRow && cursor?.offset === 0) this.#told = this.#thought = this.#open = ""
    return updates
  }

  #toUpdates(frame: Frame, { isOwn = false, isAwaited = false }: ToldTo): SessionUpdate[] {
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
        const words = formatProgress(frame.data)
        if (words === "") return []
        const progress = {
          toolCallId: frame.data.callId,
          status: "in_progress" as const,
          content: [textContent(words)],
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

  /** What belongs together while it comes has one name; its message's own is known only at its end. */
  #replyId(cursor: string): string {
    return (this.#open ||= `reply_${parseCursor(cursor)?.position ?? 0}`)
  }

  /** It may come again from its beginning. */
  #think({ id, data: { text, offset } }: Frame<"reasoning_delta">): SessionUpdate[] {
    const start = offset - text.length
    if (offset <= this.#thought.length || start > this.#thought.length) return []
    const fresh = text.slice(this.#thought.length - start)
    this.#thought += fresh
    return [thought(fresh, this.#replyId(id))]
  }

  /** A whole reply: what of it has not been told yet, its calls, and how it ended where that is not plain. */
  #reply(message: Message): SessionUpdate[] {
    const id = this.#open || message.id
    const thoughtRest = restOf(message.reasoning?.text ?? "", this.#thought)
    const rest = restOf(message.content, this.#told)
    const ending = describeEnding(message)
    return [
      ...(thoughtRest === "" ? [] : [thought(thoughtRest, id)]),
      ...(rest === "" ? [] : [this.#words(rest, id)]),
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
    // Nothing more is known of it, and nothing more will come.
    this.#diffs.delete(callId)
    const said = diff.length > 0 && status === "ok" ? diff : [...diff, textContent(text)]
    const content = [...said, ...filesIn(data).map(linkContent)]
    const rawOutput = { status, text, ...(data === undefined ? {} : { data }) }
    return { ...toEnd(callId, status), content, rawOutput }
  }

  #notice({ id, type, data }: Frame<(typeof NOTICE_EVENTS)[number]>): SessionUpdate[] {
    const notice = toNotice(type, data)
    const words = notice && describeNotice(notice)
    return words === undefined ? [] : [this.#smallPrint(words, `notice_${id}`)]
  }

  #smallPrint(words: string, id: string): SessionUpdate {
    if (this.#how.notices) return { sessionUpdate: "notice", severity: "info", title: words }
    return this.#words(`\n\n_${words}_\n\n`, id)
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

/** What was told is the beginning of the whole; where it is not, it was of an attempt that died, and all of it follows. */
const restOf = (whole: string, told: string): string => (whole.startsWith(told) ? whole.slice(told.length) : whole)
