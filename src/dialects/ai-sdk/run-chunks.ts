import type { Finish } from "../../protocol/conversation/message.ts"
import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { CallChunks, type KnownCalls } from "./call-chunks.ts"
import type { UiFinish, PawlMetadata, UiChunk } from "./chunks.ts"
import { toSourceChunks } from "./data-chunks.ts"
import { ReplyChunks } from "./reply-chunks.ts"
import { toUserParts } from "./user-parts.ts"

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
  #finish: Finish | undefined
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
    this.#finish = message.finish
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
    const finishReason = status === "paused" ? this.#calls.pauseReason : toFinishReason(status, this.#finish)
    return [
      ...waiting,
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
