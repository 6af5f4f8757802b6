import type { Model, ModelRequest, ReplyPart, ThinkingPart } from "../../../core/engine/model.ts"
import { UNCOUNTED } from "../../../core/models/scripted/script.ts"

/** A model that writes when the test says so, so that a test can inspect the middle of a reply. */
export class PacedModel implements Model {
  name = "paced"
  provider = "scripted"
  contextTokens = 200_000
  readonly requests: ModelRequest[] = []
  readonly #parts: (ReplyPart | ThinkingPart)[] = []
  #wake: (() => void) | undefined

  /** A piece of the reply. */
  write(text: string): this {
    return this.#push({ type: "text", text })
  }

  /** More of its thoughts; `thought` is the whole text. */
  think(text: string): this {
    return this.#push({ type: "thinking", text })
  }

  thought(text: string, metadata?: unknown): this {
    return this.#push({ type: "reasoning", text, ...(metadata === undefined ? {} : { metadata }) })
  }

  call(name: string, input: Record<string, unknown> = {}): this {
    return this.#push({ type: "call", name, input: JSON.stringify(input) })
  }

  /** The end of the reply. */
  end(finish: "stop" | "calls" = "stop"): this {
    return this.#push({ type: "finish", finish, usage: UNCOUNTED })
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ReplyPart | ThinkingPart> {
    this.requests.push(request)
    signal.addEventListener("abort", () => this.#wake?.(), { once: true })
    for (;;) {
      signal.throwIfAborted()
      const part = this.#parts.shift()
      if (!part) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
        continue
      }
      yield part
      if (part.type === "finish") return
    }
  }

  #push(part: ReplyPart | ThinkingPart): this {
    this.#parts.push(part)
    this.#wake?.()
    return this
  }
}
