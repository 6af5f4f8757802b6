import type { Clock } from "../../agent/clock.ts"
import type { Bus, Live } from "../../agent/ports.ts"
import type { Journal } from "../../agent/journal.ts"
import type { Cursor } from "../../protocol/cursor.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource, WaitingSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker, wholeUnits } from "./frame-maker.ts"
import { JournalPages } from "./journal-pages.ts"
import { ProgressStream } from "./progress-stream.ts"
import { ThinkingStream } from "./thinking-stream.ts"
import { rowsLength } from "../../protocol/rows-length.ts"

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
  readonly journal: Pick<Journal, "readPage">
  readonly bus: Pick<Bus, "subscribe" | "soFar">
  readonly clock: Pick<Clock, "alarm">
}

/** Rows that may wait in memory for a watcher; a slower one reads them from the journal when it is ready. */
const MAX_WAITING = 64
const MAX_WAITING_LENGTH = 512 * 1024
const MAX_WAITING_TEXT = 64 * 1024
/** Text that follows text waits for the next picture on a screen: a model may be faster than anyone can see. */
const PACE_MS = 16
const NO_ROWS: readonly never[] = []
const NO_FRAMES: never[] = []
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
  #rowsLength = 0
  #text = ""
  #textAt: Cursor = START
  /** Only while the open reply thinks. */
  #thinking: ThinkingStream | undefined
  /** Only while calls tell how far they are. */
  #progress: ProgressStream | undefined
  /** The journal has to be read: at first, and whenever something came too fast or not in order. */
  #behind = true
  #primed = false
  #closed = false
  #wake: (() => void) | undefined
  /** Only while it catches up. */
  #pages: JournalPages | undefined
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
    this.#thinking = this.#progress = undefined
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
    this.#rowsLength = 0
    return rows.length > 0 ? this.#show(rows) : this.#showText()
  }

  /** A stream that begins in the middle of a run has to know what the rows before it have named. */
  async #prime(): Promise<AnyFrame[]> {
    this.#primed = true
    if (this.#runStart === 0) return []
    let last: AnyFrame[] = []
    const pages = new JournalPages(this.#source.journal, this.#id)
    for (let [after, more] = [this.#runStart - 1, true]; more && !this.#closed;) {
      const page = await pages.read({ after, upTo: this.#position })
      for (const row of page.events) last = this.#frames.rows(row, 0)
      after = page.events.at(-1)?.position ?? after
      more = page.more && after < this.#position
    }
    return this.#cutOff && this.#offset === 0 && last.some(isEnd)
      ? last.filter(({ type }) => type === "usage" || isEnd({ type }))
      : []
  }

  async #readOn(): Promise<AnyFrame[]> {
    this.#behind = false // what comes while we read is kept, and left out below where it was read too
    this.#pages ??= new JournalPages(this.#source.journal, this.#id)
    const { events, more } = await this.#pages.read({ after: this.#position })
    const frames = this.#show(events)
    if (more) {
      this.#behind = true
      return frames
    }
    this.#pages = undefined
    const open = await this.#source.bus.soFar(this.#id)
    if (open?.position !== this.#position) return frames
    if (open.thought) this.#thinkingAt(this.#position).begin(open)
    frames.push(...this.#takeThought(), ...this.#moreText(open.text, 0))
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
    const thought = [...this.#takeThought(), ...this.#takeProgress()]
    const text = this.#text
    const { position, offset } = this.#textAt
    this.#text = ""
    if (text === "" || position < this.#position) return thought
    if (position === this.#position && offset <= this.#offset) return [...thought, ...this.#moreText(text, offset)]
    this.#behind = true
    return thought
  }

  #takeThought(): AnyFrame[] {
    const thinking = this.#thinking
    if (!thinking?.hasNews || thinking.position !== this.#position) return NO_FRAMES
    this.#pause()
    return thinking.take({ position: this.#position, offset: this.#offset })
  }

  #takeProgress(): AnyFrame[] {
    if (!this.#progress) return NO_FRAMES
    const frames = this.#progress.take({ position: this.#position, offset: this.#offset })
    this.#progress = undefined
    this.#pause()
    return frames
  }

  #thinkingAt(position: number): ThinkingStream {
    return this.#thinking?.position === position ? this.#thinking : (this.#thinking = new ThinkingStream(position))
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
    return this.#behind || this.#rows.length > 0 || (!this.#pausing && this.#hasText())
  }

  #hasText(): boolean {
    if (this.#progress) return true
    return this.#text !== "" || (this.#thinking?.hasNews === true && this.#thinking.position === this.#position)
  }

  #pause(): void {
    this.#pausing ??= this.#source.clock.alarm(
      PACE_MS,
      () => {
        this.#pausing = undefined
        if (this.#hasText()) this.#wakeUp()
      },
      "background",
    )
  }

  #hear(live: Live): void {
    if (live.type === "gone") return this.close()
    if (this.#behind) return // the journal will tell it
    if (live.type === "events") this.#hearRows(live.events)
    else if (live.type === "text_delta") this.#hearText(live)
    else if (live.type === "reasoning_delta") this.#thinkingAt(live.position).hear(live)
    else if (live.type === "tool_progress") (this.#progress ??= new ProgressStream()).hear(live)
    else if (live.type === "recorded" && live.position > (this.#rows.at(-1)?.position ?? this.#position))
      this.#fallBehind() // another process wrote that
    else return
    if (this.#wake && this.#hasNews()) this.#wakeUp()
  }

  #hearRows(rows: readonly JournalEvent[]): void {
    this.#text = "" // the row that ends a reply holds all of its text
    this.#thinking = undefined
    // A tool may tell how far it is before the row that says that it has begun; not after its end.
    this.#progress?.forgetEnded(rows)
    if (this.#progress?.isEmpty) this.#progress = undefined
    this.#rowsLength += rowsLength(rows)
    if (this.#rows.length + rows.length > MAX_WAITING || this.#rowsLength > MAX_WAITING_LENGTH) this.#fallBehind()
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
    this.#rowsLength = 0
    this.#text = ""
    this.#thinking = this.#progress = undefined
    this.#behind = true
  }

  /** In the next turn of the event loop: all that comes in this one goes out together. */
  #wakeUp(): void {
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }
}

export const isEnd = ({ type }: Pick<AnyFrame, "type">): boolean => type === "done" || type === "error"
