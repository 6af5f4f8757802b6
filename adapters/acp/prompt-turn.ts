import { type StopReason, RequestError } from "@agentclientprotocol/sdk"
import type { Finish } from "../../core/protocol/conversation/message.ts"
import type { Frame } from "../../core/protocol/frames.ts"

const FAILED = -32603

/** A prompt, from its message to the end of its run. */
export class PromptTurn {
  readonly #begins: (frame: Frame) => boolean
  /** The text of its message; undefined for a command. */
  readonly words: string | undefined
  readonly #ended = Promise.withResolvers<StopReason>()
  #finish: Finish | undefined
  /** Its run has started. */
  hasBegun = false
  /** The person cancelled it, perhaps before its run started. */
  isCancelled = false

  /** `begins`: returns true for the first frame of its run. */
  constructor(begins: (frame: Frame) => boolean, words?: string) {
    this.#begins = begins
    this.words = words
    // handled by the caller
    this.#ended.promise.catch(() => {})
  }

  /** A turn for a message: other runs may end before its own starts. */
  static of(text: string): PromptTurn {
    return new PromptTurn(
      ({ type, data }) => type === "message" && data.message.role === "user" && data.message.content === text,
      text,
    )
  }

  get ended(): Promise<StopReason> {
    return this.#ended.promise
  }

  /** Whether its run starts with this frame. */
  takes(frame: Frame): boolean {
    if (this.hasBegun || !this.#begins(frame)) return false
    this.hasBegun = true
    return true
  }

  /** Pass each frame after it was sent to the editor. */
  follow(frame: Frame): void {
    if (frame.type === "message" && frame.data.message.role === "assistant") this.#finish = frame.data.message.finish
    if (frame.type !== "run_ended" || !this.hasBegun) return
    const { status, reason, error } = frame.data
    if (status !== "failed") return this.end(stopReasonOf(status, reason, this.#finish))
    this.fail(new RequestError(FAILED, error?.message ?? "The run failed.", error ? { code: error.code } : undefined))
  }

  end(reason: StopReason): void {
    this.#ended.resolve(reason)
  }

  fail(error: Error): void {
    this.#ended.reject(error)
  }
}

/** Why a run ended, if it did not fail. `finish`: how its last reply ended. */
function stopReasonOf(
  status: "completed" | "cancelled",
  reason: string | undefined,
  finish: Finish | undefined,
): StopReason {
  if (status === "cancelled") return "cancelled"
  if (finish === "refused") return "refusal"
  if (finish === "limit" || reason === "reply_limit") return "max_tokens"
  return reason === "iteration_limit" ? "max_turn_requests" : "end_turn"
}
