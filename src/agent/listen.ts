import { failure } from "../protocol/errors.ts"
import type { Model, ModelRequest, ReplyPart } from "./model.ts"

export interface Asked {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

/** Hears a reply part by part. Resolves when it is whole; rejects when it breaks, ends unfinished, or must stop. */
export async function listen({ model, request, signal }: Asked, hear: (part: ReplyPart) => void): Promise<void> {
  signal.throwIfAborted()
  let listening = true
  let finished = false
  const whole = async () => {
    for await (const part of model.stream(request, signal)) {
      if (!listening) return
      hear(part)
      if (part.type !== "finish") continue
      finished = true
      return
    }
  }
  // A provider that ignores the signal must not hold up a cancel: from then on nobody listens to it.
  await new Promise<void>((resolve, reject) => {
    const stop = () => end(signal.reason ?? new Error("stopped"))
    const end = (error?: unknown) => {
      listening = false
      signal.removeEventListener("abort", stop)
      if (error === undefined) resolve()
      else reject(error)
    }
    signal.addEventListener("abort", stop, { once: true })
    whole().then(() => end(), end)
  })
  if (!finished)
    throw failure("provider_error", { provider: model.provider, problem: "the reply ended before it was finished" })
}
