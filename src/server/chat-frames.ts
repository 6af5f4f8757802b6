import { failure } from "../protocol/errors.ts"
import type { Frame } from "../protocol/frames.ts"
import type { MessageId } from "../protocol/ids.ts"
import type { ServerFrame } from "../protocol/socket.ts"
import type { AnyFrame } from "./to-frames.ts"

/** Turns the frames of a conversation into those that a `chat_request` is answered with. */
export class ChatFrames {
  readonly #message: MessageId
  /** `waiting` until the words have been taken up; `paused` while a person has to decide. */
  state: "waiting" | "working" | "paused" | "over" = "waiting"
  #response = ""

  /** Whether others have to be answered first: then how they end matters. */
  readonly #waits: boolean

  constructor(message: MessageId, { waits }: { readonly waits: boolean }) {
    this.#message = message
    this.#waits = waits
  }

  toFrames(frame: AnyFrame): ServerFrame[] {
    if (this.state === "over") return []
    if (this.state === "waiting") {
      if (isMessage(frame) && frame.data.message.id === this.#message) this.state = "working"
      return this.#waits && stopsQueue(frame as Frame) ? this.#hold() : []
    }
    // Also after a pause: somebody has decided, and it goes on.
    this.state = "working"
    return this.#tell(frame as Frame)
  }

  #tell(frame: Frame): ServerFrame[] {
    switch (frame.type) {
      case "text_delta":
        return [{ type: "text_chunk", text: frame.data.text }]
      case "message":
        if (frame.data.message.role === "assistant") this.#response = frame.data.message.content
        return []
      case "awaiting_confirmation":
        return [{ type: "awaiting_confirmation", proposals: frame.data.proposals }]
      case "proposal":
        // One that a person has changed, and that waits in place of the first.
        return frame.data.approvedBy ? [] : [{ type: "awaiting_confirmation", proposals: [frame.data.proposal] }]
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
    return []
  }

  /** It stays in the queue, and nobody can tell here when it will be taken up: whoever waits for a `final` must not wait for that. */
  #hold(): ServerFrame[] {
    const held = failure("message_held")
    return this.#end(held.message, held)
  }

  #end(response: string, error?: { code: string; message: string }): ServerFrame[] {
    this.state = "over"
    const final = { type: "final", response } as const
    return error ? [{ type: "error", code: error.code, message: error.message }, final] : [final]
  }
}

/** After one that failed or was stopped, what waits is held until somebody speaks again or resumes it (LOOP-07). */
const stopsQueue = (frame: Frame): boolean =>
  frame.type === "error" || (frame.type === "done" && frame.data.status === "cancelled")
const isMessage = (frame: AnyFrame): frame is Frame<"message"> => frame.type === "message"
