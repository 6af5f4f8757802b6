import type { Run } from "../../protocol/conversation/conversation.ts"
import type { ConversationId, RunId } from "../../protocol/ids.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { setImmediate as turn } from "node:timers/promises"
import type { EventPage, Journal } from "../../engine/journal.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { FrameSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker, PendingCalls } from "./frame-maker.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { rowsLength } from "../../shared/text/json.ts"

export interface NewestRun extends Pick<Run, "status" | "endedAt"> {
  readonly runId: RunId
  /** Where it begins. */
  readonly start: number
}

/** The newest run that answers somebody: a summary is none. */
export async function newestRun(
  { conversations, journal }: Pick<StreamPorts, "conversations" | "journal">,
  id: ConversationId,
): Promise<NewestRun | undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await conversations.runs(id, { limit: 1, ...(cursor === undefined ? {} : { cursor }) })
    const [run] = page.items
    // By its id: the newest may be another by now, and how this one stands would be told of that.
    const rows = run && (await conversations.rowsOfRun(id, run.id))
    if (!rows) return undefined
    const { start } = rows
    const [started] = await journal.read(id, { after: start - 1, upTo: start })
    if (started?.type !== "run_started" || !("runId" in started)) return undefined
    const { status, endedAt } = run
    if (!started.compacts) return { runId: started.runId, start, status, endedAt }
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) return undefined
  }
}

/** It is at work, or waits for a person. */
export const isOpen = ({ status }: Pick<NewestRun, "status">): boolean => status === "running" || status === "paused"

/** A run as far as it is told. */
export interface RunRange {
  readonly id: ConversationId
  /** Its first row. */
  readonly start: number
  /** The last one that counts. */
  readonly position: number
}

/**
 * The rows of a run, page after page. A run may hold the results of a thousand calls: nobody holds all of it, and nobody
 * else waits while it is read.
 */
export async function* runRows(
  { journal }: Pick<StreamPorts, "journal">,
  { id, start, position }: RunRange,
): AsyncGenerator<readonly JournalRow[], void, void> {
  const pages = new JournalPages(journal, id, "most")
  for (let after = start - 1, more = true; more && after < position;) {
    const page = await pages.read({ after, upTo: position })
    if (page.events.length > 0) yield page.events
    more = page.more && page.events.length > 0
    after = page.events.at(-1)?.position ?? after
  }
}

/** Rows are read so many at a time, fewer where they are long: a watcher that does not read on holds what was read. */
const PAGES = { first: 8, most: 64 }
const MAX_PAGE_LENGTH = 256 * 1024

/** The rows of one conversation, page after page, for whoever has to catch up with it. */
export class JournalPages {
  readonly #journal: Pick<Journal, "readPage">
  readonly #id: ConversationId
  readonly #first: number
  #limit = 0

  /** `most`: for who holds nothing of what is read, and wants all of it: from the first page on as many rows as fit. */
  constructor(journal: Pick<Journal, "readPage">, id: ConversationId, begins: "few" | "most" = "few") {
    this.#journal = journal
    this.#id = id
    this.#first = begins === "few" ? PAGES.first : PAGES.most
  }

  /** The next rows behind a position; `more` where there may be others behind them. */
  async read(range: { after: number; upTo?: number }): Promise<{ events: EventPage["events"]; more: boolean }> {
    // An embedded store answers without a turn of the event loop: many pages in a row would hold up everybody else.
    if (this.#limit > 0) await turn()
    const limit = this.#limit || this.#first
    const page = await this.#journal.readPage(this.#id, { ...range, limit, maxLength: MAX_PAGE_LENGTH })
    const { events, found } = page
    this.#limit = nextLimit(limit, page)
    return { events, more: found === limit || events.length < found }
  }
}

/** How many rows to read next, so that a page has about the intended length, judged by the rows just read. */
function nextLimit(limit: number, { found, length }: EventPage): number {
  const fitting = length === 0 ? PAGES.most : Math.floor((found * MAX_PAGE_LENGTH) / length)
  return Math.max(1, Math.min(PAGES.most, 2 * limit, fitting))
}

export type JournalRow = JournalEvent | UnknownEvent

/**
 * The rows of a run that are on record, as frames from one of them on. A run that waited before it and waits still ends
 * with that pause too: results of some calls only have not let it go on.
 */
export function toldRows(id: ConversationId, rows: readonly JournalRow[], from: number): AnyFrame[] {
  const maker = new FrameMaker(id)
  const frames = rows.flatMap((row) => {
    const made = maker.rows(row, 0)
    return row.position < from ? [] : made
  })
  if (!staysPaused(rows, from)) return frames
  return [...frames, { id: String(rows.at(-1)?.position ?? from), type: "done", data: { status: "paused" } }]
}

/** Whether a run waited before one of its rows, and has done nothing else since. */
function staysPaused(rows: readonly JournalRow[], from: number): boolean {
  const calls = new PendingCalls()
  let waits = false
  for (const row of rows) {
    if (row.position >= from && !waits) return false
    if (isKnown(row)) calls.see(row)
    waits = calls.paused
  }
  return waits
}

/** Frames that are known already, and no others. */
export function toldSource(frames: readonly AnyFrame[]): FrameSource<AnyFrame> {
  const left = [frames]
  return { next: async () => left.pop(), close() {} }
}

/** Frames that are known already, and then those of a source. */
export function withFirst(first: readonly AnyFrame[], source: FrameSource): FrameSource {
  let told = false
  return {
    async next() {
      if (told) return source.next()
      told = true
      return first
    },
    close: () => source.close(),
  }
}

/** How many runs are told at once, the newest; fewer where they have more than so many characters. */
const MAX_RUNS = 50
const MAX_LENGTH = 1_000_000

interface UpTo {
  readonly id: ConversationId
  /** The last row of the newest run that is told. */
  readonly position: number
}

export interface ToldRuns {
  /** The frames of each, oldest first. */
  readonly runs: readonly (readonly UnknownFrame[])[]
  /** The last row of those before them; null where there are none. */
  readonly before: number | null
}

/** The runs of a conversation up to a row, backwards from the newest, so that nothing is read that is not told. */
export async function readToldRuns(ports: StreamPorts, { id, position }: UpTo): Promise<ToldRuns> {
  const runs: UnknownFrame[][] = []
  let length = 0
  for (let end = position; ;) {
    const start = await ports.conversations.runStart(id, end)
    if (start === 0) return { runs, before: null }
    if (runs.length === MAX_RUNS || length > MAX_LENGTH) return { runs, before: end }
    const run = await readRun(ports, { id, start, end })
    runs.unshift(run.frames)
    length += run.length
    end = start - 1
  }
}

async function readRun(
  { journal }: StreamPorts,
  { id, start, end }: { readonly id: ConversationId; readonly start: number; readonly end: number },
): Promise<{ readonly frames: UnknownFrame[]; readonly length: number }> {
  const maker = new FrameMaker(id)
  const pages = new JournalPages(journal, id)
  const frames: UnknownFrame[] = []
  let length = 0
  for (let [after, more] = [start - 1, true]; more;) {
    const page = await pages.read({ after, upTo: end })
    for (const row of page.events) frames.push(...maker.rows(row, 0))
    length += rowsLength(page.events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    after = page.events.at(-1)?.position ?? after
    more = page.more && after < end
  }
  return { frames, length }
}

/**
 * A run that waits, from one of its rows to that pause, with what has happened since it began to wait: a decision, or a
 * result of several. Read as it is taken.
 */
export function toldPause(
  ports: Pick<StreamPorts, "journal">,
  run: RunRange & { readonly from: number },
): FrameSource<AnyFrame> {
  const frames = pausedFrames(ports, run)
  let isClosed = false
  return {
    async next() {
      const { done, value } = isClosed ? { done: true, value: undefined } : await frames.next()
      return done || isClosed ? undefined : value
    },
    close: () => void (isClosed = true),
  }
}

async function* pausedFrames(
  ports: Pick<StreamPorts, "journal">,
  { from, ...run }: RunRange & { readonly from: number },
): AsyncGenerator<AnyFrame[], void, void> {
  const maker = new FrameMaker(run.id)
  let last = from
  for await (const rows of runRows(ports, run)) {
    const frames = rows.flatMap((row) => {
      const made = maker.rows(row, 0)
      return row.position < from ? [] : made
    })
    yield frames.filter(({ type }) => type !== "done")
    last = rows.at(-1)?.position ?? last
  }
  yield [{ id: String(last), type: "done", data: { status: "paused" } }]
}

/** Follows a run row by row: whether it waits, and which of its pauses it has gone on from. */
export class FollowedPauses {
  readonly #calls = new PendingCalls()
  #pausedAt: number | undefined
  #endedAt: number | undefined

  see(row: JournalRow): void {
    // The next run, and whatever it pauses at, is not this one's.
    if (this.#endedAt !== undefined || !isKnown(row)) return
    const before = this.#calls.paused
    this.#calls.see(row)
    if (this.#calls.paused && !before) this.#pausedAt = row.position
    if (row.type === "run_ended") this.#endedAt = row.position
  }

  /** It waits for somebody. */
  get paused(): boolean {
    return this.#calls.paused
  }

  /** Up to where it has gone on from its pauses, of a run that was read up to a position: all but the one that it is in. */
  leftUpTo(position: number): number {
    if (this.#endedAt !== undefined) return this.#endedAt
    return this.paused && this.#pausedAt !== undefined ? this.#pausedAt - 1 : position
  }
}
