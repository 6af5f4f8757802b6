import { type Cursor, parseCursor, toCursor } from "../../core/protocol/cursor.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { failure } from "../../core/protocol/errors.ts"
import { unexpected } from "../client-error.ts"

/**
 * A reader's position in a conversation. It takes each frame once and in order, even if connections repeat frames: ids are
 * cursors, and positions have no gaps.
 */
export class StreamPosition {
  readonly #where: string
  #at: Cursor | undefined
  /** The types of frames seen at this position: `usage` and `done` repeat the cursor of the event before them. */
  readonly #seen = new Set<string>()
  /** The seen part of the open reply's reasoning; each connection repeats it from the beginning. */
  #thought = 0
  /** Frames about events up to here were already delivered to the client with this cursor. */
  readonly #start: number | undefined

  /** After a cursor; undefined to start at the first frame. */
  constructor(where: string, after?: string) {
    this.#where = where
    if (after === undefined) return
    this.#at = parseCursor(after)
    if (!this.#at) throw failure("bad_request", { problem: `after: "${after}" is not a cursor like 12 or 12.340.` })
    this.#start = this.#at.position
  }

  /** The cursor of the last frame; undefined before the first. */
  get cursor(): string | undefined {
    return this.#at && toCursor(this.#at)
  }

  /** Whether a frame was seen or follows the last one. False if frames are missing in between. */
  fits(frame: UnknownFrame): boolean {
    const [at, next] = [this.#at, parseCursor(frame.id)]
    if (!at || !next || next.position < at.position) return true
    if (frame.type !== "text_delta") return next.position <= at.position + 1
    const text = textOf(frame) ?? ""
    return next.position === at.position && next.offset - text.length <= at.offset
  }

  /** The frame, or its new part; undefined if it was seen. Throws if frames are missing before it. */
  take(frame: UnknownFrame): UnknownFrame | undefined {
    const next = parseCursor(frame.id)
    if (!next) throw unexpected(this.#where, `"${frame.id}" is not a cursor`)
    if (frame.type === "text_delta" && textOf(frame) === undefined)
      throw unexpected(this.#where, "a text_delta has no text")
    if (!this.fits(frame)) throw this.#gap(frame)
    if (frame.type === "text_delta") return this.#takeText(frame, next)
    const at = this.#at
    if (at && next.position < at.position) return undefined
    if (frame.type === "reasoning_delta" && at?.position === next.position) return this.#takeThought(frame)
    if (frame.type === "tool_progress" && at?.position === next.position) return frame // each progress report is new
    if (at && next.position === at.position) return this.#takeRepeated(frame)
    this.#move(next, frame.type)
    return frame
  }

  /** A frame about a seen event: it does not move the cursor, and is delivered once. */
  #takeRepeated(frame: UnknownFrame): UnknownFrame | undefined {
    if (this.#at?.position === this.#start || this.#seen.has(frame.type)) return undefined
    this.#seen.add(frame.type)
    return frame
  }

  #takeText(frame: UnknownFrame, end: Cursor): UnknownFrame | undefined {
    const text = textOf(frame) ?? ""
    const start = end.offset - text.length
    const at = this.#at ?? { position: end.position, offset: start }
    if (end.position < at.position || (end.position === at.position && end.offset <= at.offset)) return undefined
    this.#move(end, frame.type)
    return start === at.offset ? frame : { ...frame, data: { text: text.slice(at.offset - start) } }
  }

  /** Does not move the cursor. A frame without an offset is delivered as it is. */
  #takeThought(frame: UnknownFrame): UnknownFrame | undefined {
    const { offset } = frame.data as { offset?: unknown }
    if (typeof offset !== "number") return frame
    const [text, seen] = [textOf(frame) ?? "", this.#thought]
    if (offset <= seen) return undefined
    this.#thought = offset
    const start = offset - text.length
    return start >= seen ? frame : { ...frame, data: { ...(frame.data as object), text: text.slice(seen - start) } }
  }

  #move(to: Cursor, type: string): void {
    if (to.position !== this.#at?.position) {
      this.#seen.clear()
      this.#thought = 0
    }
    this.#seen.add(type)
    this.#at = to
  }

  #gap({ type, id }: UnknownFrame) {
    return unexpected(this.#where, `a ${type} at ${id} follows ${this.cursor}, so something is missing between`)
  }
}

function textOf({ data }: UnknownFrame): string | undefined {
  const text = (data as { text?: unknown } | null)?.text
  return typeof text === "string" ? text : undefined
}
