import type { Clock } from "../../agent/clock.ts"
import type { Bus, Live } from "../../agent/ports.ts"
import type { Journal } from "../../agent/journal.ts"
import type { Cursor } from "../../protocol/cursor.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource, WaitingSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker, wholeUnits } from "./frame-maker.ts"

export interface SubscriptionTarget {
  readonly id: ConversationId
  /** Where the watcher is: what it has seen. */
  readonly after: Cursor
  /** Where the run began that `after` lies in: rows from there are read again, silently, for what they name. */
  readonly runStart: number
  /** The watcher was cut off: if that was behind the last row of a run, it may have missed the `done` that has no place of its own. */
  readonly cutOff?: boolean
}

interface Source {
  readonly journal: Pick<Journal, "read">
  readonly bus: Pick<Bus, "subscribe" | "soFar">
  readonly clock: Pick<Clock, "alarm">
}

/** Rows are read so many at a time, fewer where they are long: a watcher that does not read on holds what was read. */
const PAGES = { first: 8, most: 64 }
const MAX_PAGE_TEXT = 256 * 1024
/** Rows that may wait in memory for a watcher; a slower one reads them from the journal when it is ready. */
const MAX_WAITING = 64
const MAX_WAITING_ROW_TEXT = 512 * 1024
const MAX_WAITING_TEXT = 64 * 1024
/** Text that follows text waits for the next picture on a screen: a model may be faster than anyone can see. */
const PACE_MS = 16
const NO_ROWS: readonly never[] = []
const START: Cursor = { position: 0, offset: 0 }

/**
 * Everything after a cursor, then what comes, for one watcher. It is pulled: however slow the watcher, nothing piles up
 * here, because what it has not taken can be read again. SSE and sockets are two mouths of it.
 */
export class Subscription implements FrameSource<AnyFrame>, WaitingSource<AnyFrame> {
  readonly #source: Source
  // Of what it was given only what it needs again: thousands of these wait for something to happen.
  readonly #id: ConversationId
  readonly #runStart: number
  readonly #cutOff: boolean
  readonly #frames: FrameMaker
  readonly #unsubscribe: () => void
  #position: number
  #offset: number
  /** Rows that came since the last pull, and text of the open reply that starts at `#textStart`. */
  #rows: readonly (JournalEvent | UnknownEvent)[] = NO_ROWS
  #rowText = 0
  #text = ""
  #textAt: Cursor = START
  /** The journal has to be read: at first, and whenever something came too fast or not in order. */
  #behind = true
  #primed = false
  #closed = false
  #wake: (() => void) | undefined
  #page = PAGES.first
  /** Takes the alarm back that ends the pause after text was shown. */
  #pausing: (() => void) | undefined

  constructor(source: Source, watched: SubscriptionTarget) {
    this.#source = source
    this.#id = watched.id
    this.#runStart = watched.runStart
    this.#cutOff = watched.cutOff === true
    this.#frames = new FrameMaker(watched.id)
    this.#position = watched.after.position
    this.#offset = watched.after.offset
    // Before anything is read, so that nothing can come unseen in between.
    this.#unsubscribe = source.bus.subscribe(watched.id, (live) => this.#hear(live))
  }

  /** The next frames, at least one; undefined when it was closed. One caller at a time. */
  async next(): Promise<AnyFrame[] | undefined> {
    while (!this.#closed) {
      const frames = await this.take()
      if (frames.length > 0) return frames
      if (this.#hasNews()) continue
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return undefined
  }

  async wait(): Promise<boolean> {
    while (!this.#closed && !this.#hasNews()) await new Promise<void>((resolve) => (this.#wake = resolve))
    return !this.#closed
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#pausing?.()
    this.#rows = NO_ROWS
    this.#text = ""
    this.#wakeUp()
  }

  async take(): Promise<AnyFrame[]> {
    if (!this.#primed) {
      const missed = await this.#prime()
      if (missed.length > 0) return missed
    }
    if (this.#behind) return this.#readOn()
    const rows = this.#rows
    this.#rows = NO_ROWS
    this.#rowText = 0
    return rows.length > 0 ? this.#show(rows) : this.#showText()
  }

  /** A stream that begins in the middle of a run has to know what the rows before it have named. */
  async #prime(): Promise<AnyFrame[]> {
    this.#primed = true
    if (this.#runStart === 0) return []
    const rows = await this.#source.journal.read(this.#id, { after: this.#runStart - 1, upTo: this.#position })
    const last = rows.map((row) => this.#frames.rows(row, 0)).at(-1) ?? []
    return this.#cutOff && this.#offset === 0 && last.some(isEnd)
      ? last.filter(({ type }) => type === "usage" || isEnd({ type }))
      : []
  }

  async #readOn(): Promise<AnyFrame[]> {
    this.#behind = false // what comes while we read is kept, and left out below where it was read too
    const limit = this.#page
    const read = await this.#source.journal.read(this.#id, { after: this.#position, limit })
    const rows = within(read)
    const frames = this.#show(rows)
    this.#page = nextPage(limit, read)
    if (read.length === limit || rows.length < read.length) {
      this.#behind = true
      return frames
    }
    const open = await this.#source.bus.soFar(this.#id)
    if (open?.position === this.#position) frames.push(...this.#moreText(open.text, 0))
    return frames
  }

  #show(rows: readonly (JournalEvent | UnknownEvent)[]): AnyFrame[] {
    const frames: AnyFrame[] = []
    for (const row of rows) {
      if (row.position <= this.#position) continue
      if (row.position > this.#position + 1) {
        this.#behind = true // another node wrote what lies between
        break
      }
      frames.push(...this.#frames.rows(row, this.#offset))
      this.#position = row.position
      this.#offset = 0
    }
    return frames
  }

  #showText(): AnyFrame[] {
    if (this.#pausing) return []
    const text = this.#text
    const { position, offset } = this.#textAt
    this.#text = ""
    if (text === "" || position < this.#position) return []
    if (position === this.#position && offset <= this.#offset) return this.#moreText(text, offset)
    this.#behind = true
    return []
  }

  /** What the watcher has not seen of a text that starts at an offset of the open reply. */
  #moreText(text: string, start: number): AnyFrame[] {
    const rest = text.slice(wholeUnits(text, Math.max(0, this.#offset - start)))
    if (rest === "") return []
    this.#offset = start + text.length
    this.#pause()
    return [FrameMaker.text(rest, { position: this.#position, offset: this.#offset })]
  }

  #hasNews(): boolean {
    return this.#behind || this.#rows.length > 0 || (this.#text !== "" && !this.#pausing)
  }

  #pause(): void {
    this.#pausing ??= this.#source.clock.alarm(
      PACE_MS,
      () => {
        this.#pausing = undefined
        if (this.#text !== "") this.#wakeUp()
      },
      "background",
    )
  }

  #hear(live: Live): void {
    if (live.type === "gone") return this.close()
    if (this.#behind) return // the journal will tell it
    if (live.type === "events") this.#hearRows(live.events)
    else if (live.type === "text_delta") this.#hearText(live)
    else return
    if (this.#wake && this.#hasNews()) this.#wakeUp()
  }

  #hearRows(rows: readonly JournalEvent[]): void {
    this.#text = "" // the row that ends a reply holds all of its text
    for (const row of rows) this.#rowText += textLength(row)
    if (this.#rows.length + rows.length > MAX_WAITING || this.#rowText > MAX_WAITING_ROW_TEXT) this.#fallBehind()
    else this.#rows = this.#rows === NO_ROWS ? rows : [...this.#rows, ...rows]
  }

  #hearText({ position, offset, text }: Extract<Live, { type: "text_delta" }>): void {
    const start = offset - text.length
    const follows = this.#textAt.position === position && this.#textAt.offset + this.#text.length === start
    if (this.#text !== "" && follows) this.#text += text
    else {
      this.#text = text
      this.#textAt = { position, offset: start }
    }
    if (this.#text.length > MAX_WAITING_TEXT) this.#fallBehind()
  }

  #fallBehind(): void {
    this.#rows = NO_ROWS
    this.#rowText = 0
    this.#text = ""
    this.#behind = true
  }

  /** In the next turn of the event loop: all that comes in this one goes out together. */
  #wakeUp(): void {
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }
}

/** The first of them that are not too long together, at least one. */
function within<Row extends JournalEvent | UnknownEvent>(rows: readonly Row[]): readonly Row[] {
  let text = 0
  const end = rows.findIndex((row) => (text += textLength(row as JournalEvent)) > MAX_PAGE_TEXT)
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}

/** How many rows to read next, so that a page has about the intended amount of text, judged by the rows just read. */
function nextPage(limit: number, rows: readonly (JournalEvent | UnknownEvent)[]): number {
  const text = rows.reduce((sum, row) => sum + textLength(row as JournalEvent), 0)
  const fitting = text === 0 ? PAGES.most : Math.floor((rows.length * MAX_PAGE_TEXT) / text)
  return Math.max(1, Math.min(PAGES.most, 2 * limit, fitting))
}

/** Of the rows that can be long. */
function textLength(row: JournalEvent): number {
  // A newer version's may be made otherwise.
  if (row.type === "tool_end") return row.text?.length ?? 0
  if (row.type !== "message" || !row.parts) return 0
  return row.parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0)
}

export const isEnd = ({ type }: Pick<AnyFrame, "type">): boolean => type === "done" || type === "error"
