import { existsSync } from "node:fs"
import { open, unlink } from "node:fs/promises"
import { isFrame } from "../../../client/index.ts"
import { type Finish, missingAnswerReason } from "../../../core/protocol/conversation/message.ts"
import type { UnknownFrame } from "../../../core/protocol/frames.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { execText } from "../../strings/exec.ts"
import { CommandError } from "../process/command.ts"

/** Exit codes of `pawl exec`: a script can distinguish an answer from any other end. */
export const EXIT = {
  done: 0,
  usage: 1,
  needsConfirmation: 2,
  failed: 3,
  refused: 4,
  cut: 5,
  nothing: 6,
  cancelled: 130,
} as const

/** Refusals because of a wrong option or setting: no model was asked. */
const WRONG_USAGE: readonly string[] = ["unknown_model", "unknown_agent", "model_unavailable", "mode_forbidden"]

/** The exit code for a request that the server refused. */
export const exitOf = ({ code }: { readonly code: string }): number =>
  WRONG_USAGE.includes(code) ? EXIT.usage : EXIT.failed

export interface ExecResult {
  readonly code: number
  /** Undefined if the answer needs no remark. */
  readonly remark?: string
  readonly reason?: string
}

/** Follows the frames of a run and reports how its answer ended. */
export class EndingTracker {
  #finish: Finish | undefined
  #reason: string | undefined
  #hasWords = false

  show(frame: UnknownFrame): void {
    if (isFrame(frame, "message") && frame.data.message.role === "assistant") {
      this.#finish = frame.data.message.finish
      this.#hasWords = frame.data.message.content.trim() !== ""
    }
    if (isFrame(frame, "run_ended")) this.#reason = frame.data.reason
  }

  /** For a completed run: whether the answer can be used. */
  get ending(): ExecResult {
    const reason = this.#reason ?? this.#finish
    const details = reason === undefined || reason === "stop" ? {} : { reason }
    if (this.#finish === "refused") return { ...details, code: EXIT.refused, remark: execText.refused }
    if (this.#reason === "reply_limit") return { ...details, code: EXIT.cut, remark: execText.cutByUs }
    if (this.#finish === "limit") return { ...details, code: EXIT.cut, remark: execText.cutByLimit }
    if (this.#finish === "unknown") return { ...details, code: EXIT.cut, remark: execText.maybeCut }
    if (!this.#hasWords) return { ...details, code: EXIT.nothing, remark: missingAnswerReason(this.#finish) }
    if (this.#reason === "iteration_limit") return { ...details, code: EXIT.done, remark: execText.outOfCalls }
    return { ...details, code: EXIT.done }
  }
}

interface Output extends AsyncDisposable {
  write(text: string): Promise<void>
}

/** Opens the output file before the request is sent, so that no answer is paid for that cannot be stored. */
export async function openOutput(path: string, flag = "-o"): Promise<Output> {
  const isNew = !existsSync(path)
  // An existing file keeps its content until there is something to replace it with.
  const file = await open(path, "a").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(execText.cannotWriteOutput(flag, path, failureReason(error)))
  })
  let isWritten = false
  return {
    async write(text) {
      isWritten = true
      try {
        const { size } = await file.stat()
        if (size > 0) await file.truncate(0)
        await file.appendFile(text)
      } catch (error) {
        throw new CommandError(execText.outputIncomplete(flag, path, failureReason(error)))
      }
    },
    async [Symbol.asyncDispose]() {
      await file.close()
      if (isNew && !isWritten) await unlink(path).catch(() => {})
    },
  }
}
