import type { StopReason } from "@agentclientprotocol/sdk"
import { RequestError } from "@agentclientprotocol/sdk"
import type { Finish } from "../../core/protocol/conversation/message.ts"
import type { Frame } from "../../core/protocol/frames.ts"
import { stopReasonOf } from "./stop-reason.ts"

const FAILED = -32603

/** One prompt of an editor: from its words to the end of the run that they begin. */
export class PromptTurn {
  readonly #begins: (frame: Frame) => boolean
  /** What was said to begin it; undefined where it is no words. */
  readonly words: string | undefined
  readonly #ended = Promise.withResolvers<StopReason>()
  #finish: Finish | undefined
  /** Its run is at work, or over. */
  hasBegun = false
  /** The person has stopped it, perhaps before its run began. */
  isCancelled = false

  /** `begins`: which frame is the first of its run. */
  constructor(begins: (frame: Frame) => boolean, words?: string) {
    this.#begins = begins
    this.words = words
    // Whoever waits for it hears of it.
    this.#ended.promise.catch(() => {})
  }

  /** The turn of words: runs of others may end before theirs begins. */
  static of(text: string): PromptTurn {
    return new PromptTurn(
      ({ type, data }) => type === "message" && data.message.role === "user" && data.message.content === text,
      text,
    )
  }

  get ended(): Promise<StopReason> {
    return this.#ended.promise
  }

  /** Whether this frame is the one that it begins with. */
  takes(frame: Frame): boolean {
    if (this.hasBegun || !this.#begins(frame)) return false
    this.hasBegun = true
    return true
  }

  /** To be told of each frame when the editor has been. */
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
