import type { MessageId } from "../../protocol/ids.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { FrameSource } from "./event-stream.ts"
import { isEnd } from "./subscription.ts"
import type { AnyFrame } from "./frame-maker.ts"

/**
 * Which run: the one a message enters, or the one that goes on from every pause up to a position. Of the first, too, pauses
 * can be left out that it has gone on from: those up to `pausesUpTo`.
 */
export type WhichRun = { readonly message: MessageId; readonly pausesUpTo?: number } | { readonly position: number }

/** The frames of one run out of those of its conversation, to its `done` or `error`. */
export class RunFrames implements FrameSource<AnyFrame> {
  readonly #source: FrameSource<AnyFrame>
  readonly #which: WhichRun
  #begun: boolean
  #start: AnyFrame | undefined
  #over = false
  #last: AnyFrame | undefined

  constructor(source: FrameSource<AnyFrame>, which: WhichRun) {
    this.#source = source
    this.#which = which
    this.#begun = "position" in which
  }

  async next(): Promise<AnyFrame[] | undefined> {
    while (!this.#over) {
      const frames = await this.#source.next()
      if (!frames) return this.#end()
      const mine = frames.flatMap((frame) => this.#pick(frame))
      if (mine.length > 0) return mine
    }
    return undefined
  }

  close(): void {
    this.#over = true
    this.#source.close()
  }

  /** Ends with `done`, unless its run has begun: there will be none, because its message was taken back. */
  withdraw(position: number): void {
    if (this.#begun || this.#over) return
    this.#last = { id: String(position), type: "done", data: { status: "cancelled" } }
    this.#source.close()
  }

  get begun(): boolean {
    return this.#begun
  }

  #end(): AnyFrame[] | undefined {
    const last = this.#last
    this.#last = undefined
    return last && [last]
  }

  #pick(frame: AnyFrame): AnyFrame[] {
    if (this.#over) return []
    if (this.#begun) {
      if (this.#wasPaused(frame)) return []
      this.#over = isEnd(frame)
      return [frame]
    }
    if (this.#isMine(frame)) {
      this.#begun = true
      return this.#start ? [this.#start, frame] : [frame]
    }
    // The words follow the row that starts their run; in a run that works already they stand alone.
    this.#start = frame.type === "run_started" ? frame : undefined
    return []
  }

  #isMine(frame: AnyFrame): boolean {
    return (
      "message" in this.#which &&
      frame.type === "message" &&
      (frame as Frame<"message">).data.message.id === this.#which.message
    )
  }

  /** Between two decisions the run paused again: it has gone on since. */
  #wasPaused({ id, type, data }: AnyFrame): boolean {
    const left = "position" in this.#which ? this.#which.position : this.#which.pausesUpTo
    if (left === undefined || type !== "done" || (data as Frame<"done">["data"]).status !== "paused") return false
    return Number(id) <= left
  }
}
