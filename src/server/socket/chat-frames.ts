import { failure } from "../../protocol/errors.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { ConversationId, MessageId } from "../../protocol/ids.ts"
import type { ServerFrame } from "../../protocol/socket.ts"
import type { AnyFrame } from "../stream/frame-maker.ts"

export interface ChatSubject {
  readonly conversationId: ConversationId
  /** Whose answer it is; undefined for one that goes on with a run that waits. */
  readonly message?: MessageId
  /** Whether others have to be answered first: then how they end matters. */
  readonly waits?: boolean
}

/** Turns the frames of a conversation into those that a `chat_request` is answered with. */
export class ChatFrames {
  readonly #answered: ChatSubject
  /** `waiting` until the words have been taken up; `paused` while a person has to decide. */
  state: "waiting" | "working" | "paused" | "over"
  /** The run has come to wait for a person, and nobody has been told in words. */
  #mustAsk = false
  /** It has been told, and a `final` with it: what comes now is more than was waited for. */
  #hasAsked = false
  /** Somebody has answered since, and waits for the end of it. */
  owesFinal = false
  #response = ""

  constructor(answered: ChatSubject) {
    this.#answered = answered
    this.state = answered.message ? "waiting" : "paused"
  }

  toFrames(frame: AnyFrame): ServerFrame[] {
    if (this.state === "over") return []
    if (this.state === "waiting") {
      if (isMessage(frame) && frame.data.message.id === this.#answered.message) this.state = "working"
      if (!this.#answered.waits) return []
      // What it waits behind waits for a person itself.
      this.#mustAsk ||= isPause(frame as Frame)
      return stopsQueue(frame as Frame) ? this.#hold() : []
    }
    // Also after a pause: somebody has decided, and it goes on.
    this.state = "working"
    return this.#tell(frame as Frame)
  }

  /** Once for each pause: whether it has to be told what the run waits for. */
  takeQuestion(): boolean {
    const must = this.#mustAsk && this.state !== "over"
    this.#mustAsk = false
    return must
  }

  /** What waits for the person, in words, behind what was said before it. */
  ask(words: string): ServerFrame[] {
    const said = this.#response
    this.#hasAsked = true
    this.owesFinal = false
    this.#response = ""
    const { conversationId } = this.#answered
    const text = said === "" ? words : `\n\n${words}`
    return [
      { type: "text_chunk", text, conversationId },
      { type: "final", response: said + text, status: "paused", conversationId },
    ]
  }

  #tell(frame: Frame): ServerFrame[] {
    const { conversationId } = this.#answered
    switch (frame.type) {
      case "text_delta":
        return [{ type: "text_chunk", text: frame.data.text, conversationId }]
      case "message":
        if (frame.data.message.role === "assistant") this.#response = frame.data.message.content
        return []
      case "awaiting_confirmation":
        return [{ type: "awaiting_confirmation", proposals: frame.data.proposals, conversationId }]
      case "proposal":
        // One that a person has changed, and that waits in place of the first.
        if (frame.data.approvedBy) return []
        return [{ type: "awaiting_confirmation", proposals: [frame.data.proposal], conversationId }]
      case "run_ended":
        // The person said something else instead, and that is answered: this one has had its final.
        if (this.#hasAsked && !this.owesFinal && frame.data.reason === "superseded") this.state = "over"
        return []
      case "error":
        return this.#end(frame.data.message, frame.data)
      case "done":
        return this.#done(frame.data.status)
      default:
        return []
    }
  }

  #done(status: Frame<"done">["data"]["status"]): ServerFrame[] {
    if (status === "completed") return this.#end(this.#response)
    if (status === "cancelled") return this.#end("The run was cancelled.", failure("cancelled"))
    this.state = "paused"
    this.#mustAsk = true
    return []
  }

  /** It stays in the queue, and nobody can tell here when it will be taken up: whoever waits for a `final` must not wait for that. */
  #hold(): ServerFrame[] {
    const held = failure("message_held")
    return this.#end(held.message, held)
  }

  #end(response: string, error?: { code: string; message: string }): ServerFrame[] {
    this.state = "over"
    const final = { type: "final", response, conversationId: this.#answered.conversationId } as const
    return error ? [{ type: "error", code: error.code, message: error.message }, final] : [final]
  }
}

/** After one that failed or was stopped, what waits is held until somebody speaks again or resumes it (LOOP-07). */
const stopsQueue = (frame: Frame): boolean =>
  frame.type === "error" || (frame.type === "done" && frame.data.status === "cancelled")
const isPause = (frame: Frame): boolean => frame.type === "done" && frame.data.status === "paused"
const isMessage = (frame: AnyFrame): frame is Frame<"message"> => frame.type === "message"
