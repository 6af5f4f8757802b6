import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

const OPEN = "<think>"
const CLOSE = "</think>"
/** More blank space than this before the first word is no way to begin a thought: it is told as it comes, and counted. */
const MAX_BLANK = 200

type Stream = ReadableStream<LanguageModelV4StreamPart>

/** The same stream, with what a model wrote between `<think>` and `</think>` as thinking and not as words. */
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
 * Takes thinking out of text, wherever the pieces of a stream are cut. Only before the first word: a model that
 * explains these tags in the middle of an answer is not thinking.
 */
class ThinkTags {
  #state: "before-words" | "thinking" | "words" = "before-words"
  /** What may still turn out to be a part of a tag, or blank space around one. */
  #held = ""
  #thoughts = 0
  #id = ""

  get #thought(): string {
    return `think-${this.#thoughts}`
  }

  *read({ id, delta }: { readonly id: string; readonly delta: string }): Generator<LanguageModelV4StreamPart> {
    this.#id = id
    this.#held += delta
    if (this.#state === "words") return yield* this.#say(this.#held)
    for (;;) {
      if (this.#state === "thinking") {
        const at = this.#held.indexOf(CLOSE)
        if (at === -1) return yield* this.#think(this.#held.length - startOf(CLOSE, this.#held))
        yield* this.#think(at)
        this.#held = this.#held.slice(CLOSE.length)
        yield* this.#endThought()
      }
      const begun = this.#held.trimStart()
      const isBlankLong = this.#held.length - begun.length >= MAX_BLANK
      if (!isBlankLong && begun.length < OPEN.length && OPEN.startsWith(begun)) return
      if (isBlankLong || !begun.startsWith(OPEN)) return yield* this.#say(this.#thoughts > 0 ? begun : this.#held)
      this.#state = "thinking"
      this.#held = begun.slice(OPEN.length)
      yield { type: "reasoning-start", id: this.#thought }
    }
  }

  /** Whatever comes next, what was held back was no tag. */
  *endBefore({ type }: LanguageModelV4StreamPart): Generator<LanguageModelV4StreamPart> {
    if (type !== "text-end" && type !== "finish" && type !== "tool-call" && type !== "tool-input-start") return
    if (this.#state === "thinking") {
      yield* this.#think(this.#held.length)
      yield* this.#endThought()
    }
    const isBlank = this.#thoughts > 0 && this.#held.trim() === ""
    if (this.#held !== "" && !isBlank) yield* this.#say(this.#held)
    this.#held = ""
    this.#state = "before-words"
  }

  *#say(text: string): Generator<LanguageModelV4StreamPart> {
    this.#state = "words"
    this.#held = ""
    if (text !== "") yield { type: "text-delta", id: this.#id, delta: text }
  }

  *#think(length: number): Generator<LanguageModelV4StreamPart> {
    const delta = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    if (delta !== "") yield { type: "reasoning-delta", id: this.#thought, delta }
  }

  *#endThought(): Generator<LanguageModelV4StreamPart> {
    yield { type: "reasoning-end", id: this.#thought }
    this.#thoughts++
    this.#state = "before-words"
  }
}

/** How many of the last characters are how this tag begins. */
function startOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
