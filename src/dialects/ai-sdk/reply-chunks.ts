import type { Frame } from "../../protocol/frames.ts"
import type { UiChunk } from "./chunks.ts"

/**
 * The replies of a run as steps of one message: what is thought and said, as it comes. A step is open until the next reply
 * begins, because results of its calls belong to it.
 */
export class ReplyChunks {
  #stepIsOpen: boolean
  /** Something of the reply that is being written stands in the open step. */
  #told = false
  /** All of its thinking that was told. */
  #thought = ""
  #text: string | undefined
  #thinking: string | undefined
  #parts = 0

  constructor({ inStep }: { readonly inStep: boolean }) {
    this.#stepIsOpen = inStep
  }

  say(delta: string): UiChunk[] {
    const before = [...this.begin(), ...this.#endThinking()]
    if (this.#text === undefined) {
      this.#text = this.#newPart("text")
      before.push({ type: "text-start", id: this.#text })
    }
    return [...before, { type: "text-delta", id: this.#text, delta }]
  }

  /** Thinking may be told again from its beginning; what is missing before it comes with the whole reply. */
  think({ text, offset }: Pick<Frame<"reasoning_delta">["data"], "text" | "offset">): UiChunk[] {
    const start = offset - text.length
    if (start > this.#thought.length) return []
    return this.#think(text.slice(this.#thought.length - start))
  }

  /** What was told of this reply does not count: it is written anew. */
  takeBack(): UiChunk[] {
    const told = this.#told
    this.#forget()
    this.#told = told
    return told ? [{ type: "reset-step" }] : []
  }

  /** It is whole; what follows is about its calls, until the next one begins. */
  end({ reasoning }: Pick<Frame<"message">["data"]["message"], "reasoning">): UiChunk[] {
    const whole = reasoning?.text ?? ""
    const rest = whole.startsWith(this.#thought) ? this.#think(whole.slice(this.#thought.length)) : []
    const text: UiChunk[] = this.#text === undefined ? [] : [{ type: "text-end", id: this.#text }]
    const chunks = [...rest, ...this.#endThinking(), ...text]
    this.#forget()
    return chunks
  }

  /** The run goes no further: nothing stays open. */
  close(): UiChunk[] {
    const open = this.end({})
    const step: UiChunk[] = this.#stepIsOpen ? [{ type: "finish-step" }] : []
    this.#stepIsOpen = false
    return [...open, ...step]
  }

  /** The step of the reply that is being written. */
  begin(): UiChunk[] {
    if (this.#told) return []
    const last: UiChunk[] = this.#stepIsOpen ? [{ type: "finish-step" }] : []
    this.#stepIsOpen = true
    this.#told = true
    return [...last, { type: "start-step" }]
  }

  #think(delta: string): UiChunk[] {
    if (delta === "") return []
    this.#thought += delta
    const before = this.begin()
    if (this.#thinking === undefined) {
      this.#thinking = this.#newPart("reasoning")
      before.push({ type: "reasoning-start", id: this.#thinking })
    }
    return [...before, { type: "reasoning-delta", id: this.#thinking, delta }]
  }

  #endThinking(): UiChunk[] {
    const id = this.#thinking
    this.#thinking = undefined
    return id === undefined ? [] : [{ type: "reasoning-end", id }]
  }

  #newPart(kind: string): string {
    return `${kind}-${++this.#parts}`
  }

  #forget(): void {
    this.#told = false
    this.#thought = ""
    this.#text = undefined
    this.#thinking = undefined
  }
}
