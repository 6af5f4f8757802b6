import type { Clock } from "../../shared/time/clock.ts"
import type { Bus, Live, LiveReply } from "../../engine/ports.ts"
import type { Journal } from "../../engine/journal.ts"
import { type Cursor, toCursor } from "../../protocol/cursor.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId, CallId } from "../../protocol/ids.ts"
import type { FrameSource, WaitingSource } from "./frame-source.ts"
import { type AnyFrame, FrameMaker, wholeUnits } from "./frame-maker.ts"
import { JournalPages } from "./journal-runs.ts"
import { rowsLength } from "../../shared/text/json.ts"
import type { CallProgress } from "../../protocol/conversation/tool-calls.ts"
import type { Frame } from "../../protocol/frames.ts"

export interface SubscriptionTarget {
  readonly id: ConversationId
  /** The client's cursor. */
  readonly after: Cursor
  /** The start of the run that contains `after`: its events up to there are read again for their names. */
  readonly runStart: number
  /**
   * The client reconnects: if its cursor is at the end of a run, it may have missed the `done`, which has no position of its
   * own.
   */
  readonly cutOff?: boolean
}

interface Source {
  readonly journal: Pick<Journal, "readPage">
  readonly bus: Pick<Bus, "subscribe" | "soFar">
  readonly clock: Pick<Clock, "alarm">
}

/** Events buffered for a watcher; a slower one reads them from the journal. */
const MAX_WAITING = 64
const MAX_WAITING_LENGTH = 512 * 1024
const MAX_WAITING_TEXT = 64 * 1024
/** Text that follows text waits for the next frame of a screen: a model may be faster than anyone can see. */
const PACE_MS = 16
const NO_ROWS: readonly never[] = []
const NO_FRAMES: never[] = []
const START: Cursor = { position: 0, offset: 0 }

/**
 * Everything after a cursor, for one watcher. It is pulled: a slow watcher does not fill the memory, because what it has not
 * taken can be read again. SSE and sockets both use it.
 */
export class Subscription implements FrameSource<AnyFrame>, WaitingSource<AnyFrame> {
  readonly #source: Source
  // Only the needed fields of the target: thousands of subscriptions are idle.
  readonly #id: ConversationId
  readonly #runStart: number
  readonly #cutOff: boolean
  readonly #frames: FrameMaker
  readonly #unsubscribe: () => void
  #position: number
  #offset: number
  /** Events since the last pull, and text of the open reply from `#textAt` on. */
  #rows: readonly (JournalEvent | UnknownEvent)[] = NO_ROWS
  #rowsLength = 0
  #text = ""
  #textAt: Cursor = START
  /** Only while the open reply is reasoning. */
  #thinking: ThinkingStream | undefined
  /** Only while calls report progress. */
  #progress: ProgressStream | undefined
  /** The journal must be read: at first, and after an overflow or a gap. */
  #behind = true
  #primed = false
  #closed = false
  #lastPosition = Infinity
  #wake: (() => void) | undefined
  /** Only while it catches up. */
  #pages: JournalPages | undefined
  /** Cancels the timer that ends the pause after text. */
  #cancelPause: (() => void) | undefined

  constructor(source: Source, watched: SubscriptionTarget) {
    this.#source = source
    this.#id = watched.id
    this.#runStart = watched.runStart
    this.#cutOff = watched.cutOff === true
    this.#frames = new FrameMaker(watched.id)
    this.#position = watched.after.position
    this.#offset = watched.after.offset
    // Before the first read, so that nothing is missed in between.
    this.#unsubscribe = source.bus.subscribe(watched.id, (live) => this.#receive(live))
  }

  /** The next frames, at least one; undefined when closed. One caller at a time. */
  async next(): Promise<AnyFrame[] | undefined> {
    while (!this.#closed) {
      const frames = await this.take()
      if (frames.length > 0) return frames
      if (this.#closed || this.#hasNews()) continue // it may be closed while it reads
      if (this.#position >= this.#lastPosition) break
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    this.close()
    return undefined
  }

  async wait(): Promise<boolean> {
    while (!this.#closed && !this.#hasNews()) await new Promise<void>((resolve) => (this.#wake = resolve))
    return !this.#closed
  }

  /** Closes once the events up to a position were taken. */
  closeAfter(position: number): void {
    this.#lastPosition = position
    if (position > (this.#rows.at(-1)?.position ?? this.#position)) this.#fallBehind() // they may not have arrived yet
    this.#wakeUp()
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#cancelPause?.()
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

  /** A stream that starts in the middle of a run must know the names of earlier calls. */
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
    this.#behind = false // events during the read are buffered, and skipped below if they were read too
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
    frames.push(...this.#takeReasoning(), ...this.#moreText(open.text, 0))
    return frames
  }

  #show(rows: readonly (JournalEvent | UnknownEvent)[]): AnyFrame[] {
    const frames: AnyFrame[] = []
    for (const row of rows) {
      if (row.position <= this.#position) continue
      if (row.position > this.#position + 1) {
        this.#behind = true // another node wrote the events in between
        break
      }
      frames.push(...this.#frames.rows(row, this.#offset))
      this.#position = row.position
      this.#offset = 0
    }
    return frames
  }

  #showText(): AnyFrame[] {
    if (this.#cancelPause) return []
    const reasoningFrames = [...this.#takeReasoning(), ...this.#takeProgress()]
    const text = this.#text
    const { position, offset } = this.#textAt
    this.#text = ""
    if (text === "" || position < this.#position) return reasoningFrames
    if (position === this.#position && offset <= this.#offset)
      return [...reasoningFrames, ...this.#moreText(text, offset)]
    this.#behind = true
    return reasoningFrames
  }

  #takeReasoning(): AnyFrame[] {
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

  /** The unseen rest of a text that starts at an offset of the open reply. */
  #moreText(text: string, start: number): AnyFrame[] {
    const remaining = text.slice(wholeUnits(text, Math.max(0, this.#offset - start)))
    if (remaining === "") return []
    this.#offset = start + text.length
    this.#pause()
    return [FrameMaker.text(remaining, { position: this.#position, offset: this.#offset })]
  }

  #hasNews(): boolean {
    return this.#behind || this.#rows.length > 0 || (!this.#cancelPause && this.#hasText())
  }

  #hasText(): boolean {
    if (this.#progress) return true
    return this.#text !== "" || (this.#thinking?.hasNews === true && this.#thinking.position === this.#position)
  }

  #pause(): void {
    this.#cancelPause ??= this.#source.clock.alarm(
      PACE_MS,
      () => {
        this.#cancelPause = undefined
        if (this.#hasText()) this.#wakeUp()
      },
      "background",
    )
  }

  #receive(live: Live): void {
    if (live.type === "gone") return this.close()
    if (this.#behind) return // it will be read from the journal
    if (live.type === "events") this.#receiveRows(live.events)
    else if (live.type === "text_delta") this.#receiveText(live)
    else if (live.type === "reasoning_delta") this.#thinkingAt(live.position).receive(live)
    else if (live.type === "tool_progress") (this.#progress ??= new ProgressStream()).receive(live)
    else if (live.type === "recorded" && live.position > (this.#rows.at(-1)?.position ?? this.#position))
      this.#fallBehind() // another process wrote that
    else return
    if (this.#wake && this.#hasNews()) this.#wakeUp()
  }

  #receiveRows(rows: readonly JournalEvent[]): void {
    this.#text = "" // the event that ends a reply contains its whole text
    this.#thinking = undefined
    // Progress may arrive before the event that starts its call, but not after the one that ends it.
    this.#progress?.forgetEnded(rows)
    if (this.#progress?.isEmpty) this.#progress = undefined
    this.#rowsLength += rowsLength(rows)
    if (this.#rows.length + rows.length > MAX_WAITING || this.#rowsLength > MAX_WAITING_LENGTH) this.#fallBehind()
    else this.#rows = this.#rows === NO_ROWS ? rows : [...this.#rows, ...rows]
  }

  #receiveText({ position, offset, text }: Extract<Live, { type: "text_delta" }>): void {
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

  /** In the next turn of the event loop, so that everything of this turn is sent together. */
  #wakeUp(): void {
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }
}

export const isEnd = ({ type }: Pick<AnyFrame, "type">): boolean => type === "done" || type === "error"

/** More than one reply can run. */
const MAX_CALLS = 32

/** The newest progress of each call, for one watcher. It does not move the cursor, and missed progress is not repeated. */
class ProgressStream {
  readonly #newest = new Map<CallId, CallProgress>()

  receive({ callId, text, done, total }: CallProgress): void {
    if (this.#newest.size >= MAX_CALLS && !this.#newest.has(callId)) return
    const counts = { ...(done === undefined ? {} : { done }), ...(total === undefined ? {} : { total }) }
    this.#newest.set(callId, { callId, text, ...counts })
  }

  get isEmpty(): boolean {
    return this.#newest.size === 0
  }

  /** Drops the progress of ended calls. */
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

type ReasoningDelta = Extract<Live, { readonly type: "reasoning_delta" }>

/** Most buffered reasoning; a slower watcher gets all of it with the message. */
const MAX_WAITING_THOUGHT = 64 * 1024

/**
 * The reasoning of the open reply, for one watcher. It does not move the cursor: a client that reconnects gets it from the
 * beginning, and the frame contains its offset. Missed reasoning comes with the message.
 */
class ThinkingStream {
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

  receive({ offset, text, ms }: ReasoningDelta): void {
    const start = offset - text.length
    if (this.#waiting !== "" && this.#start + this.#waiting.length === start) this.#waiting += text
    else {
      this.#waiting = text
      this.#start = start
    }
    this.#ms = ms
    // A gap: later text is not sent without the text before it.
    if (this.#start > this.#seen || this.#waiting.length > MAX_WAITING_THOUGHT) this.#waiting = ""
  }

  /** Starts with everything so far. */
  begin({ thought }: LiveReply): void {
    if (!thought) return
    this.#start = 0
    this.#waiting = thought.text
    this.#ms = thought.ms
  }

  /** The part that the watcher has not seen. */
  take(at: Cursor): Frame[] {
    const [text, start] = [this.#waiting, this.#start]
    this.#waiting = ""
    const remaining = text.slice(wholeUnits(text, Math.max(0, this.#seen - start)))
    if (remaining === "") return []
    this.#seen = start + text.length
    return [{ id: toCursor(at), type: "reasoning_delta", data: { text: remaining, offset: this.#seen, ms: this.#ms } }]
  }
}
