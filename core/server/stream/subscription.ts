import type { Clock } from "../../shared/time/clock.ts"
import type { Bus, Live, LiveReply } from "../../engine/ports.ts"
import type { Journal } from "../../engine/journal.ts"
import { type Cursor, toCursor } from "../../protocol/cursor.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId, CallId } from "../../protocol/ids.ts"
import type { FrameSource, WaitingSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker, wholeUnits } from "./frame-maker.ts"
import { JournalPages } from "./journal-runs.ts"
import { rowsLength } from "../../shared/text/json.ts"
import type { CallProgress } from "../../protocol/conversation/tool-calls.ts"
import type { Frame } from "../../protocol/frames.ts"

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

/** More calls at once than one reply runs. */
const MAX_CALLS = 32

/** How far calls are, for one watcher: of each what was told last. It moves no cursor, and what was missed is not told again. */
export class ProgressStream {
  readonly #newest = new Map<CallId, CallProgress>()

  hear({ callId, text, done, total }: CallProgress): void {
    if (this.#newest.size >= MAX_CALLS && !this.#newest.has(callId)) return
    const counts = { ...(done === undefined ? {} : { done }), ...(total === undefined ? {} : { total }) }
    this.#newest.set(callId, { callId, text, ...counts })
  }

  get isEmpty(): boolean {
    return this.#newest.size === 0
  }

  /** What has ended is no longer on its way. */
  forgetEnded(rows: readonly JournalEvent[]): void {
    for (const row of rows) if (row.type === "tool_end") this.#newest.delete(row.callId)
  }

  take(at: Cursor): Frame[] {
    const id = toCursor(at)
    const frames = [...this.#newest.values()].map((data): Frame => ({ id, type: "tool_progress", data }))
    this.#newest.clear()
    return frames
  }
}

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
