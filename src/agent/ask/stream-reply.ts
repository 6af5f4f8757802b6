import { failure } from "../../protocol/errors.ts"
import { whenAborted } from "../concurrency/when-aborted.ts"
import type { BesidePart, Model, ModelRequest, ReplyPart, ThinkingPart } from "../model.ts"

export interface ReplyRequest {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
  /** The reply may hold so many characters: words, thinking and arguments together. Then it is cut, as a whole reply. */
  readonly most?: number
  /** Told when the provider has to be waited for, and what of the settings it does not take. */
  readonly tell?: (part: Exclude<BesidePart, ThinkingPart>) => Promise<void>
  /** Hears what it thinks while it does: what counts of it comes with the parts. */
  readonly think?: (text: string) => void
}

/** About a quarter of a million tokens, twice what models write at most. One gone wrong would fill a disk. */
export const REPLY_CHARACTERS = 1_000_000

/**
 * Hears a reply part by part. Resolves when it is whole; rejects when it breaks, ends unfinished, or must stop. Says
 * whether it was longer than it may be: then what was heard ends with `limit`, and the provider is told to stop.
 */
export async function streamReply(asked: ReplyRequest, hear: (part: ReplyPart) => void): Promise<"whole" | "cut"> {
  const { model, request, signal, most = REPLY_CHARACTERS } = asked
  signal.throwIfAborted()
  let listening = true
  let finished = false
  let cut = false
  const whole = async () => {
    let left = most
    for await (const part of model.stream(request, signal)) {
      if (!listening) return
      // Nearly all of a reply, so it comes first.
      if (part.type === "text" && part.text.length <= left) {
        left -= part.text.length
        hear(part)
        continue
      }
      if (part.type === "thinking") {
        asked.think?.(part.text)
        continue
      }
      if (part.type === "waiting" || part.type === "left_out") {
        await asked.tell?.(part)
        continue
      }
      left -= sizeOf(part)
      cut = left < 0
      if (cut) cutTo(part, left).forEach(hear)
      else hear(part)
      if (part.type !== "finish" && !cut) continue
      finished = true
      return
    }
  }
  // A provider that ignores the signal must not hold up a cancel: from then on nobody listens to it.
  await new Promise<void>((resolve, reject) => {
    const listenNoMore = whenAborted(signal, () => end(signal.reason ?? new Error("stopped")))
    const end = (error?: unknown) => {
      listening = false
      listenNoMore()
      if (error === undefined) resolve()
      else reject(error)
    }
    whole().then(() => end(), end)
  })
  if (!finished)
    throw failure("provider_error", { provider: model.provider, problem: "the reply ended before it was finished" })
  return cut ? "cut" : "whole"
}

function sizeOf(part: ReplyPart): number {
  if (part.type === "finish") return 0
  return part.type === "call" ? part.name.length + part.input.length : part.text.length
}

/** Words are cut to what there is room for. Thinking and calls are worth nothing in part: no provider takes them back. */
function cutTo(part: ReplyPart, left: number): ReplyPart[] {
  const room = part.type === "text" ? part.text.slice(0, left) : ""
  const end: ReplyPart = { type: "finish", finish: "limit", usage: { inputTokens: null, outputTokens: null } }
  return room ? [{ type: "text", text: room }, end] : [end]
}
