import { type Cursor, parseCursor, toCursor } from "../../core/protocol/cursor.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { failure } from "../../core/protocol/errors.ts"
import { unexpected } from "../client-error.ts"

/**
 * Where a reader of a conversation is. It takes each frame once and in order, whatever connections repeat:
 * ids are cursors, and rows have no gaps.
 */
export class StreamPosition {
  readonly #where: string
  #at: Cursor | undefined
  /** The types of frames seen at this position: `usage` and `done` repeat the cursor of the row before them. */
  readonly #seen = new Set<string>()
  /** Units of what is thought for the open reply that were seen; a connection tells it from its beginning. */
  #thought = 0
  /** What is about rows up to here was told to whoever gave us this place. */
  readonly #start: number | undefined

  /** After a cursor, or with undefined wherever the first frame stands. */
  constructor(where: string, after?: string) {
    this.#where = where
    if (after === undefined) return
    this.#at = parseCursor(after)
    if (!this.#at) throw failure("bad_request", { problem: `after: "${after}" is not a cursor like 12 or 12.340.` })
    this.#start = this.#at.position
  }

  /** What to name as the last event seen; undefined while nothing was. */
  get cursor(): string | undefined {
    return this.#at && toCursor(this.#at)
  }

  /** Whether it was seen or follows what was: not where something would be missing between. */
  fits(frame: UnknownFrame): boolean {
    const [at, next] = [this.#at, parseCursor(frame.id)]
    if (!at || !next || next.position < at.position) return true
    if (frame.type !== "text_delta") return next.position <= at.position + 1
    const text = textOf(frame) ?? ""
    return next.position === at.position && next.offset - text.length <= at.offset
  }

  /** The frame, or its part that is new; undefined when it was seen before. Throws where frames are missing before it. */
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
    if (frame.type === "tool_progress" && at?.position === next.position) return frame // told often, and each is news
    if (at && next.position === at.position) return this.#takeRepeated(frame)
    this.#move(next, frame.type)
    return frame
  }

  /** About rows that were seen: it moves nothing, and is told once. */
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

  /** It moves nothing. A frame that does not say where it stands is shown as it is. */
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
