import type { Clock } from "../agent/clock.ts"
import type { ConversationId } from "../protocol/ids.ts"
import { type WordOf, writeLetter } from "./node-words.ts"
import type { Addressee, Wire } from "./wire.ts"

/** Text waits for the next picture on a screen, as it does at a watcher: a model may be faster than anyone can see. */
const PACE_MS = 16
/** A letter that holds more than this is sent, and another begun: a wire carries a megabyte at a time. */
const FULL = 256 * 1024

/** What is to be said to one process, or to all: gathered for a moment, and sent together. */
export class Outbox {
  readonly #wire: Wire
  readonly #to: Addressee
  readonly #clock: Clock
  #words: string[] = []
  /** Text that waits, by its conversation: what follows is joined to it. */
  readonly #texts = new Map<ConversationId, WordOf<"delta">>()
  #stopPausing: (() => void) | undefined
  #soon: NodeJS.Immediate | undefined

  constructor(wire: Wire, to: Addressee, clock: Clock) {
    this.#wire = wire
    this.#to = to
    this.#clock = clock
  }

  /** A word as it is written; it goes out with all else that is said in this turn of the event loop. */
  add(word: string): void {
    this.#words.push(word)
    this.#soon ??= setImmediate(() => this.#send())
  }

  addText(delta: WordOf<"delta">): void {
    const waiting = this.#texts.get(delta.id)
    const follows = waiting?.position === delta.position && waiting.offset === delta.offset - delta.text.length
    this.#texts.set(delta.id, follows ? { ...delta, text: waiting.text + delta.text } : delta)
    this.#stopPausing ??= this.#clock.alarm(PACE_MS, () => this.#send(), "background")
  }

  /** What waits of a reply is said by the row that ends it. */
  dropText(id: ConversationId): void {
    this.#texts.delete(id)
  }

  /** What waits is not sent. */
  clear(): void {
    this.#stopPausing?.()
    clearImmediate(this.#soon)
    this.#stopPausing = this.#soon = undefined
    this.#words = []
    this.#texts.clear()
  }

  #send(): void {
    const words = this.#words
    for (const text of this.#texts.values()) words.push(JSON.stringify(text))
    this.clear()
    let [first, length] = [0, 0]
    for (const [at, word] of words.entries()) {
      length += word.length
      if (length < FULL && at < words.length - 1) continue
      this.#wire.send(this.#to, writeLetter(this.#wire.self, words.slice(first, at + 1)))
      ;[first, length] = [at + 1, 0]
    }
  }
}
