import { GrowingText } from "../agent/growing-text.ts"
import type { Live, LiveReply, LiveThought } from "../agent/ports.ts"

/** A reply that is open, as far as it was heard. Where its writer is in this process, the words are left with the writer. */
export class OpenText implements LiveReply {
  readonly position: number
  thought?: LiveThought
  #reply: { readonly shown: string } | undefined
  #heard: GrowingText | undefined
  #length = 0

  constructor(position: number, thought?: LiveThought) {
    this.position = position
    if (thought) this.thought = thought
  }

  get text(): string {
    return this.#reply?.shown ?? String(this.#heard ?? "")
  }

  get length(): number {
    return this.#length
  }

  /** As it is now, for whoever reads it later. */
  soFar(): LiveReply {
    const { position, text, thought } = this
    return thought ? { position, text, thought } : { position, text }
  }

  hear({ offset, text, reply }: Extract<Live, { type: "text_delta" }>): this {
    this.#reply = reply
    this.#length = offset
    if (reply) return this
    // One that starts at nothing is another attempt, or is told again: what was thought came before it and stays.
    if (offset === text.length) this.#heard = undefined
    ;(this.#heard ??= new GrowingText()).add(text)
    return this
  }
}
