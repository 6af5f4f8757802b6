import type { UiPart } from "../../core/adapter.ts"
import {
  type ConversationId,
  type Finish,
  type Frame,
  type Message,
  missingAnswer,
  type UnknownFrame,
} from "../../core/protocol/index.ts"
import {
  CallChunks,
  type KnownCalls,
  type UiFinish,
  type PawlMetadata,
  type UiChunk,
  toSourceChunks,
} from "./call-chunks.ts"

/** The client's message in which a run continues after a pause. */
export interface ContinuedMessage extends KnownCalls {
  readonly messageId: string
}

/** Converts the frames of a run to one assistant message, from its beginning or a pause to its end. */
export class RunChunks {
  readonly #conversation: ConversationId
  readonly #replies: ReplyChunks
  readonly #calls: CallChunks
  readonly #goesOn: boolean
  #begins: string | undefined
  /** A run's message follows the event that starts it, and the client shows it already. */
  #textIsNext = false
  #run: string | undefined
  #last: Message | undefined
  #usage: object | undefined
  #over = false
  /** It has ended, not only paused: only a late result may follow. */
  #ended = false

  constructor(conversation: ConversationId, continuesIn?: ContinuedMessage) {
    this.#conversation = conversation
    this.#begins = continuesIn?.messageId
    this.#replies = new ReplyChunks({ inStep: continuesIn !== undefined })
    this.#calls = new CallChunks(continuesIn)
    this.#goesOn = continuesIn !== undefined
  }

  get isOver(): boolean {
    return this.#over
  }

  read(frame: Frame | UnknownFrame): UiChunk[] {
    const chunks = this.#ended && frame.type !== "late_result" ? [] : this.#read(frame as Frame)
    if (this.#begins === undefined) return chunks
    const messageId = this.#begins
    this.#begins = undefined
    return [{ type: "start", messageId }, ...chunks]
  }

  #read(frame: Frame): UiChunk[] {
    const isText = this.#textIsNext
    this.#textIsNext = false
    switch (frame.type) {
      case "run_started": {
        this.#run = frame.data.runId
        if (this.#goesOn) return []
        this.#textIsNext = true
        return [{ type: "start", messageId: frame.data.runId, messageMetadata: this.#metadata({}) }]
      }
      case "text_delta":
        return this.#replies.say(frame.data.text)
      case "reasoning_delta":
        return this.#replies.think(frame.data)
      case "restarted":
        return this.#replies.takeBack()
      case "message":
        return frame.data.message.role === "assistant" ? this.#reply(frame.data.message) : this.#words(frame, isText)
      case "awaiting_confirmation":
        return this.#calls.asked(frame.data.proposals)
      case "proposal":
        return this.#calls.proposed(frame.data)
      case "decision":
        return this.#calls.decided(frame.data)
      case "handed_over":
        return this.#calls.handedOver(frame.data)
      case "tool_end":
        return this.#calls.ended(frame.data)
      case "late_result":
        return this.#calls.endedLate(frame.data)
      case "in_doubt":
        return this.#calls.doubted(frame.data)
      case "step":
        return [
          { type: "data-step", data: { step: frame.data.step, detail: frame.data.detail ?? null }, transient: true },
        ]
      case "tool_progress":
        return [{ type: "data-progress", data: frame.data, transient: true }]
      case "usage":
        this.#usage = frame.data
        return []
      case "done":
        return this.#done(frame.data.status)
      case "error":
        return this.#failed(frame.data)
      default:
        return []
    }
  }

  #reply(message: Frame<"message">["data"]["message"]): UiChunk[] {
    this.#last = message
    const calls = message.toolCalls ?? []
    const step = calls.length > 0 ? this.#replies.begin() : []
    return [
      ...step,
      ...this.#replies.end(message),
      ...toSourceChunks(message.id, message.data),
      ...this.#calls.called(calls),
    ]
  }

  #words({ data: { message } }: Frame<"message">, areFirst: boolean): UiChunk[] {
    return areFirst ? [] : [{ type: "steering-message", id: message.id, parts: toUserParts(message) }]
  }

  #done(status: "paused" | "completed" | "cancelled"): UiChunk[] {
    this.#over = true
    this.#ended = status !== "paused"
    const aborted: UiChunk[] = status === "cancelled" ? [{ type: "abort", reason: "The run was stopped." }] : []
    const waiting = status === "paused" ? this.#calls.paused() : []
    const finishReason = status === "paused" ? this.#calls.pauseReason : toFinishReason(status, this.#last?.finish)
    const reason = status === "completed" ? missingAnswer(this.#last) : undefined
    return [
      ...waiting,
      ...(reason === undefined ? [] : this.#replies.say(reason)),
      ...this.#replies.close(),
      ...aborted,
      { type: "finish", finishReason, messageMetadata: this.#metadata({ status }) },
    ]
  }

  #failed(error: { readonly code: string; readonly message: string }): UiChunk[] {
    this.#over = true
    this.#ended = true
    const messageMetadata = this.#metadata({ status: "failed", error })
    return [
      ...this.#replies.close(),
      { type: "message-metadata", messageMetadata },
      { type: "error", errorText: error.message },
    ]
  }

  #metadata(more: PawlMetadata): { pawl: PawlMetadata } {
    const usage = this.#usage ? { usage: this.#usage } : {}
    const run = this.#run === undefined ? {} : { runId: this.#run }
    return { pawl: { conversationId: this.#conversation, ...run, ...usage, ...more } }
  }
}

function toFinishReason(status: "completed" | "cancelled", finish: Finish | undefined): UiFinish {
  if (status === "cancelled") return "interrupted"
  if (finish === "limit") return "length"
  return finish === "refused" ? "content-filter" : "stop"
}

/**
 * The replies of a run as steps of one message, with their reasoning and text as they come. A step stays open until the next
 * reply, because results of its calls belong to it.
 */
class ReplyChunks {
  #stepIsOpen: boolean
  /** The open step contains something of the current reply. */
  #told = false
  /** The sent reasoning. */
  #thought = ""
  #text: string | undefined
  #thinking: string | undefined
  #parts = 0

  constructor({ inStep }: { readonly inStep: boolean }) {
    this.#stepIsOpen = inStep
  }

  say(delta: string): UiChunk[] {
    const before = [...this.begin(), ...this.#endThinking()]
    if (this.#text === undefined) {
      this.#text = this.#newPart("text")
      before.push({ type: "text-start", id: this.#text })
    }
    return [...before, { type: "text-delta", id: this.#text, delta }]
  }

  /** Reasoning may be repeated from its beginning; missing reasoning comes with the whole reply. */
  think({ text, offset }: Pick<Frame<"reasoning_delta">["data"], "text" | "offset">): UiChunk[] {
    const start = offset - text.length
    if (start > this.#thought.length) return []
    return this.#think(text.slice(this.#thought.length - start))
  }

  /** Removes the reply, which starts over. */
  takeBack(): UiChunk[] {
    const sent = this.#told
    this.#forget()
    this.#told = sent
    return sent ? [{ type: "reset-step" }] : []
  }

  /** Ends the reply; its calls may follow before the next one. */
  end({ reasoning }: Pick<Frame<"message">["data"]["message"], "reasoning">): UiChunk[] {
    const whole = reasoning?.text ?? ""
    const remaining = whole.startsWith(this.#thought) ? this.#think(whole.slice(this.#thought.length)) : []
    const text: UiChunk[] = this.#text === undefined ? [] : [{ type: "text-end", id: this.#text }]
    const chunks = [...remaining, ...this.#endThinking(), ...text]
    this.#forget()
    return chunks
  }

  /** Closes everything at the end of the run. */
  close(): UiChunk[] {
    const open = this.end({})
    const step: UiChunk[] = this.#stepIsOpen ? [{ type: "finish-step" }] : []
    this.#stepIsOpen = false
    return [...open, ...step]
  }

  /** Opens the step of the current reply. */
  begin(): UiChunk[] {
    if (this.#told) return []
    const last: UiChunk[] = this.#stepIsOpen ? [{ type: "finish-step" }] : []
    this.#stepIsOpen = true
    this.#told = true
    return [...last, { type: "start-step" }]
  }

  #think(delta: string): UiChunk[] {
    if (delta === "") return []
    this.#thought += delta
    const before = this.begin()
    if (this.#thinking === undefined) {
      this.#thinking = this.#newPart("reasoning")
      before.push({ type: "reasoning-start", id: this.#thinking })
    }
    return [...before, { type: "reasoning-delta", id: this.#thinking, delta }]
  }

  #endThinking(): UiChunk[] {
    const id = this.#thinking
    this.#thinking = undefined
    return id === undefined ? [] : [{ type: "reasoning-end", id }]
  }

  #newPart(kind: string): string {
    return `${kind}-${++this.#parts}`
  }

  #forget(): void {
    this.#told = false
    this.#thought = ""
    this.#text = undefined
    this.#thinking = undefined
  }
}

/** A user's message as parts: files first, like `sendMessage`. */
export function toUserParts({ content, files = [] }: Pick<Message, "content" | "files">): UiPart[] {
  const named = files.map(({ id, name, type }) => ({
    ...{ type: "file", mediaType: type, filename: name, url: `/api/files/${id}` },
  }))
  return [...named, { type: "text", text: content }]
}
