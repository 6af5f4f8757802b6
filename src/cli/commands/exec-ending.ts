import { isFrame } from "../../client/index.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"

/** How `pawl exec` ends: for scripts, so that an answer which is none never passes for one. */
export const EXIT = {
  done: 0,
  needsConfirmation: 2,
  failed: 3,
  refused: 4,
  cut: 5,
  nothing: 6,
  cancelled: 130,
} as const

export interface ExecResult {
  readonly code: number
  /** Undefined where the answer speaks for itself. */
  readonly says?: string
  readonly reason?: string
}

/** Follows a run's frames and says how its answer ended. */
export class EndingWatch {
  #finish: string | undefined
  #reason: string | undefined
  #hasWords = false

  show(frame: UnknownFrame): void {
    if (isFrame(frame, "message") && frame.data.message.role === "assistant") {
      this.#finish = frame.data.message.finish
      this.#hasWords = frame.data.message.content.trim() !== ""
    }
    if (isFrame(frame, "run_ended")) this.#reason = frame.data.reason
  }

  /** Of a run that was completed: the provider has answered, and this is what its answer is worth. */
  get ending(): ExecResult {
    const reason = this.#reason ?? this.#finish
    const told = reason === undefined || reason === "stop" ? {} : { reason }
    if (this.#finish === "refused")
      return { ...told, code: EXIT.refused, says: "the provider refused to answer, or to go on (content filter)" }
    if (this.#reason === "reply_limit")
      return { ...told, code: EXIT.cut, says: "the answer was cut: it was longer than PAWL_REPLY_CHARACTERS allows" }
    if (this.#finish === "limit")
      return { ...told, code: EXIT.cut, says: "the answer was cut: the model reached its output limit" }
    if (this.#finish === "unknown")
      return { ...told, code: EXIT.cut, says: "the answer may be cut: the provider did not say that it was finished" }
    if (!this.#hasWords) return { ...told, code: EXIT.nothing, says: "the model answered nothing" }
    if (this.#reason === "iteration_limit")
      return { ...told, code: EXIT.done, says: "the model had to answer: the limit of its tool calls was reached" }
    return { ...told, code: EXIT.done }
  }
}
