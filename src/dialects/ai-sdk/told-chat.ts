import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { thoughtsFirst } from "../thoughts-first.ts"
import { RunChunks } from "./run-chunks.ts"
import { AssistantMessage, type ToldMessage } from "./ui-message.ts"
import { toUserParts } from "./user-parts.ts"

/** The runs of a conversation as the messages of a chat: a person's words, then one message for all that answered them. */
export class ToldChat {
  readonly #conversation: ConversationId
  readonly #messages: ToldMessage[] = []
  #chunks: RunChunks
  #answer = new AssistantMessage()
  #isSummary = false
  /** Right behind the row that starts a run stand its words. */
  #wordsAreNext = false

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
    this.#chunks = new RunChunks(conversation)
  }

  read(frames: readonly UnknownFrame[]): void {
    for (const frame of thoughtsFirst(frames)) this.#read(frame as Frame)
  }

  /** All of it, also the message that is not finished. */
  toMessages(): readonly ToldMessage[] {
    this.#endRun()
    return this.#messages
  }

  #read(frame: Frame): void {
    const areWords = this.#wordsAreNext && frame.type === "message"
    this.#wordsAreNext = frame.type === "run_started"
    if (frame.type === "run_started") {
      this.#endRun()
      this.#isSummary = frame.data.compacts === true
    }
    if (areWords && frame.data.message.role === "user") {
      const { id, createdAt } = frame.data.message
      const metadata = { pawl: { createdAt } }
      this.#messages.push({ id, role: "user", metadata, parts: toUserParts(frame.data.message) })
    }
    for (const chunk of this.#chunks.read(frame)) this.#answer.take(chunk)
  }

  #endRun(): void {
    const message = this.#answer.toMessage()
    if (message && !this.#isSummary) this.#messages.push(message)
    this.#chunks = new RunChunks(this.#conversation)
    this.#answer = new AssistantMessage()
  }
}
