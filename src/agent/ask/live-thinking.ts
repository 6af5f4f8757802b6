import { BETWEEN_THOUGHTS } from "../../protocol/conversation/reasoning.ts"
import { mendText } from "../../protocol/text/text.ts"
import type { Clock } from "../clock.ts"

interface Block {
  readonly since: number
  /** What was shown of it. */
  text: string
  /** Half of a surrogate pair at the end of a delta: its other half is in the next one. */
  half: string
}

/** The thinking of one reply while it comes: what of it is to be shown, and how long it has taken. Only whole blocks are kept. */
export class LiveThinking {
  readonly #clock: Pick<Clock, "now">
  #block: Block | undefined
  #endedMs = 0
  #shown = 0
  #hasBegun = false

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock
  }

  /** Whether it has thought at all, shown or not. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** How much of it has been shown. */
  get offset(): number {
    return this.#shown
  }

  get ms(): number {
    return this.#endedMs + (this.#block ? this.#clock.now() - this.#block.since : 0)
  }

  /** Takes more of a block in, nothing at its beginning, and returns what to show now. */
  more(text: string): string {
    this.#hasBegun = true
    const block = (this.#block ??= { since: this.#clock.now(), text: "", half: "" })
    let whole = block.half + text
    block.half = ""
    const last = whole.charCodeAt(whole.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      block.half = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    return this.#show(block, mendText(whole))
  }

  /** The block is whole: what is left to show of it, and how long it took where it was seen to come. */
  end(whole: string): { readonly rest: string; readonly ms?: number } {
    this.#hasBegun = true
    const block = this.#block
    this.#block = undefined
    const shown = block?.text ?? ""
    const rest = whole.startsWith(shown) ? whole.slice(shown.length) : ""
    const said = this.#show(block ?? { since: 0, text: "", half: "" }, rest)
    if (!block) return { rest: said }
    const ms = Math.max(0, this.#clock.now() - block.since)
    this.#endedMs += ms
    return { rest: said, ms }
  }

  #show(block: Block, text: string): string {
    if (text === "") return ""
    const shown = block.text === "" && this.#shown > 0 ? BETWEEN_THOUGHTS + text : text
    block.text += text
    this.#shown += shown.length
    return shown
  }
}
