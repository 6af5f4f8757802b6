import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

const OPEN = "<think>"
const CLOSE = "</think>"
/** With more leading blanks, the text is not the start of reasoning and is passed on. */
const MAX_BLANK = 200

type Stream = ReadableStream<LanguageModelV4StreamPart>

/** Converts text between `<think>` and `</think>` into reasoning. */
export function withoutThinkTags(stream: Stream): Stream {
  const tags = new ThinkTags()
  return stream.pipeThrough(
    new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      transform(part, controller) {
        const parts = part.type === "text-delta" ? tags.read(part) : [...tags.endBefore(part), part]
        for (const each of parts) controller.enqueue(each)
      },
    }),
  )
}

/**
 * Separates reasoning from text, however the stream is divided. Only at the start: a model that explains these tags
 * later in its answer is not reasoning.
 */
class ThinkTags {
  #state: "before-words" | "thinking" | "words" = "before-words"
  /** A possible part of a tag, or blanks around one. */
  #pending = ""
  #thoughts = 0
  #id = ""

  get #thought(): string {
    return `think-${this.#thoughts}`
  }

  *read({ id, delta }: { readonly id: string; readonly delta: string }): Generator<LanguageModelV4StreamPart> {
    this.#id = id
    this.#pending += delta
    if (this.#state === "words") return yield* this.#emitText(this.#pending)
    for (;;) {
      if (this.#state === "thinking") {
        const at = this.#pending.indexOf(CLOSE)
        if (at === -1) return yield* this.#emitReasoning(this.#pending.length - startOf(CLOSE, this.#pending))
        yield* this.#emitReasoning(at)
        this.#pending = this.#pending.slice(CLOSE.length)
        yield* this.#endReasoning()
      }
      const trimmed = this.#pending.trimStart()
      const isBlankLong = this.#pending.length - trimmed.length >= MAX_BLANK
      if (!isBlankLong && trimmed.length < OPEN.length && OPEN.startsWith(trimmed)) return
      if (isBlankLong || !trimmed.startsWith(OPEN))
        return yield* this.#emitText(this.#thoughts > 0 ? trimmed : this.#pending)
      this.#state = "thinking"
      this.#pending = trimmed.slice(OPEN.length)
      yield { type: "reasoning-start", id: this.#thought }
    }
  }

  /** Emits the held-back text: it is not a tag if anything else follows. */
  *endBefore({ type }: LanguageModelV4StreamPart): Generator<LanguageModelV4StreamPart> {
    if (type !== "text-end" && type !== "finish" && type !== "tool-call" && type !== "tool-input-start") return
    if (this.#state === "thinking") {
      yield* this.#emitReasoning(this.#pending.length)
      yield* this.#endReasoning()
    }
    const isBlank = this.#thoughts > 0 && this.#pending.trim() === ""
    if (this.#pending !== "" && !isBlank) yield* this.#emitText(this.#pending)
    this.#pending = ""
    this.#state = "before-words"
  }

  *#emitText(text: string): Generator<LanguageModelV4StreamPart> {
    this.#state = "words"
    this.#pending = ""
    if (text !== "") yield { type: "text-delta", id: this.#id, delta: text }
  }

  *#emitReasoning(length: number): Generator<LanguageModelV4StreamPart> {
    const delta = this.#pending.slice(0, length)
    this.#pending = this.#pending.slice(length)
    if (delta !== "") yield { type: "reasoning-delta", id: this.#thought, delta }
  }

  *#endReasoning(): Generator<LanguageModelV4StreamPart> {
    yield { type: "reasoning-end", id: this.#thought }
    this.#thoughts++
    this.#state = "before-words"
  }
}

/** How many of the last characters are the start of this tag. */
function startOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
