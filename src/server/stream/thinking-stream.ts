import type { Live, LiveReply } from "../../agent/ports.ts"
import { type Cursor, toCursor } from "../../protocol/cursor.ts"
import type { Frame } from "../../protocol/frames.ts"
import { wholeUnits } from "./frame-maker.ts"

type Heard = Extract<Live, { readonly type: "reasoning_delta" }>

/** What waits of it for a slow watcher; one that is slower sees the whole with the message. */
const MAX_WAITING_THOUGHT = 64 * 1024

/**
 * What is thought for the open reply, for one watcher. It moves no cursor: whoever comes again is told it from its
 * beginning, and the frame says where it stands. What is missed of it comes with the message.
 */
export class ThinkingStream {
  readonly position: number
  #seen = 0
  #waiting = ""
  #start = 0
  #ms = 0

  constructor(position: number) {
    this.position = position
  }

  get hasNews(): boolean {
    return this.#waiting !== ""
  }

  hear({ offset, text, ms }: Heard): void {
    const start = offset - text.length
    if (this.#waiting !== "" && this.#start + this.#waiting.length === start) this.#waiting += text
    else {
      this.#waiting = text
      this.#start = start
    }
    this.#ms = ms
    // Something is missing before it: what follows would be told without what it follows.
    if (this.#start > this.#seen || this.#waiting.length > MAX_WAITING_THOUGHT) this.#waiting = ""
  }

  /** All of it so far, to whoever has just come. */
  begin({ thought }: LiveReply): void {
    if (!thought) return
    this.#start = 0
    this.#waiting = thought.text
    this.#ms = thought.ms
  }

  /** What the watcher has not seen yet; the cursor is where it stands. */
  take(at: Cursor): Frame[] {
    const [text, start] = [this.#waiting, this.#start]
    this.#waiting = ""
    const rest = text.slice(wholeUnits(text, Math.max(0, this.#seen - start)))
    if (rest === "") return []
    this.#seen = start + text.length
    return [{ id: toCursor(at), type: "reasoning_delta", data: { text: rest, offset: this.#seen, ms: this.#ms } }]
  }
}
