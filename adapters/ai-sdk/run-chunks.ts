import { type Finish, type Message, missingAnswer } from "../../core/protocol/conversation/message.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import {
  CallChunks,
  type KnownCalls,
  type UiFinish,
  type PawlMetadata,
  type UiChunk,
  toSourceChunks,
} from "./call-chunks.ts"
import type { UiPart } from "../../core/protocol/dialects/ai-sdk.ts"

/** The message that a run goes on with behind a pause, as its client has it. */
export interface GoesOnIn extends KnownCalls {
  readonly messageId: string
}

/** A run as one message of the assistant: the frames of its conversation, from its beginning or a pause to its end. */
export class RunChunks {
  readonly #conversation: ConversationId
  readonly #replies: ReplyChunks
  readonly #calls: CallChunks
  readonly #goesOn: boolean
  #begins: string | undefined
  /** The words that a run begins with stand right behind the row that starts it, and are the client's own. */
  #wordsAreNext = false
  #run: string | undefined
  #last: Message | undefined
  #usage: object | undefined
  #over = false
  /** It has ended, and not only paused: what follows is about other things, but for a write that ends late. */
  #ended = false

  constructor(conversation: ConversationId, goesOnIn?: GoesOnIn) {
    this.#conversation = conversation
    this.#begins = goesOnIn?.messageId
    this.#replies = new ReplyChunks({ inStep: goesOnIn !== undefined })
    this.#calls = new CallChunks(goesOnIn)
    this.#goesOn = goesOnIn !== undefined
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
    const areWords = this.#wordsAreNext
    this.#wordsAreNext = false
    switch (frame.type) {
      case "run_started": {
        this.#run = frame.data.runId
        if (this.#goesOn) return []
        this.#wordsAreNext = true
        return [{ type: "start", messageId: frame.data.runId, messageMetadata: this.#metadata({}) }]
      }
      case "text_delta":
        return this.#replies.say(frame.data.text)
      case "reasoning_delta":
        return this.#replies.think(frame.data)
      case "restarted":
        return this.#replies.takeBack()
      case "message":
        return frame.data.message.role === "assistant" ? this.#reply(frame.data.message) : this.#words(frame, areWords)
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
 * The replies of a run as steps of one message: what is thought and said, as it comes. A step is open until the next reply
 * begins, because results of its calls belong to it.
 */
export class ReplyChunks {
  #stepIsOpen: boolean
  /** Something of the reply that is being written stands in the open step. */
  #told = false
  /** All of its thinking that was told. */
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

  /** Thinking may be told again from its beginning; what is missing before it comes with the whole reply. */
  think({ text, offset }: Pick<Frame<"reasoning_delta">["data"], "text" | "offset">): UiChunk[] {
    const start = offset - text.length
    if (start > this.#thought.length) return []
    return this.#think(text.slice(this.#thought.length - start))
  }

  /** What was told of this reply does not count: it is written anew. */
  takeBack(): UiChunk[] {
    const told = this.#told
    this.#forget()
    this.#told = told
    return told ? [{ type: "reset-step" }] : []
  }

  /** It is whole; what follows is about its calls, until the next one begins. */
  end({ reasoning }: Pick<Frame<"message">["data"]["message"], "reasoning">): UiChunk[] {
    const whole = reasoning?.text ?? ""
    const rest = whole.startsWith(this.#thought) ? this.#think(whole.slice(this.#thought.length)) : []
    const text: UiChunk[] = this.#text === undefined ? [] : [{ type: "text-end", id: this.#text }]
    const chunks = [...rest, ...this.#endThinking(), ...text]
    this.#forget()
    return chunks
  }

  /** The run goes no further: nothing stays open. */
  close(): UiChunk[] {
    const open = this.end({})
    const step: UiChunk[] = this.#stepIsOpen ? [{ type: "finish-step" }] : []
    this.#stepIsOpen = false
    return [...open, ...step]
  }

  /** The step of the reply that is being written. */
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

/** A person's words as parts of a message: their files first, as `sendMessage` puts them. */
export function toUserParts({ content, files = [] }: Pick<Message, "content" | "files">): UiPart[] {
  const named = files.map(({ id, name, type }) => ({
    ...{ type: "file", mediaType: type, filename: name, url: `/api/files/${id}` },
  }))
  return [...named, { type: "text", text: content }]
}
