import type { Run } from "../../protocol/conversation/conversation.ts"
import type { ConversationId, RunId } from "../../protocol/ids.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { setImmediate as turn } from "node:timers/promises"
import type { EventPage, Journal } from "../../engine/journal.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { FrameSource } from "./frame-source.ts"
import { type AnyFrame, FrameMaker, PendingCalls } from "./frame-maker.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { rowsLength } from "../../shared/text/json.ts"

export interface NewestRun extends Pick<Run, "status" | "endedAt"> {
  readonly runId: RunId
  /** Its first position. */
  readonly start: number
}

/** The newest run that is not a compaction. */
export async function newestRun(
  { conversations, journal }: Pick<StreamPorts, "conversations" | "journal">,
  id: ConversationId,
): Promise<NewestRun | undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await conversations.runs(id, { limit: 1, ...(cursor === undefined ? {} : { cursor }) })
    const [run] = page.items
    // By id: a newer run may exist by now, and its status would be mistaken for this one's.
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

/** Whether it is working or paused. */
export const isOpen = ({ status }: Pick<NewestRun, "status">): boolean => status === "running" || status === "paused"

/** A run up to a position. */
export interface RunRange {
  readonly id: ConversationId
  /** Its first position. */
  readonly start: number
  /** The last position to read. */
  readonly position: number
}

/**
 * The events of a run, in pages: a run may contain the results of a thousand calls, so it is never held completely and
 * others get turns in between.
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

/** Events per page, fewer if they are long, because a slow reader holds a page in memory. */
const PAGES = { first: 8, most: 64 }
const MAX_PAGE_LENGTH = 256 * 1024

/** Reads a conversation's events in pages. */
export class JournalPages {
  readonly #journal: Pick<Journal, "readPage">
  readonly #id: ConversationId
  readonly #first: number
  #limit = 0

  /** `begins: "most"`: for readers that hold nothing and want everything; the first page is already large. */
  constructor(journal: Pick<Journal, "readPage">, id: ConversationId, begins: "few" | "most" = "few") {
    this.#journal = journal
    this.#id = id
    this.#first = begins === "few" ? PAGES.first : PAGES.most
  }

  /** The next events after a position; `more` if there may be others. */
  async read(range: { after: number; upTo?: number }): Promise<{ events: EventPage["events"]; more: boolean }> {
    // An embedded store answers synchronously: many pages in a row would block others.
    if (this.#limit > 0) await turn()
    const limit = this.#limit || this.#first
    const page = await this.#journal.readPage(this.#id, { ...range, limit, maxLength: MAX_PAGE_LENGTH })
    const { events, found } = page
    this.#limit = nextLimit(limit, page)
    return { events, more: found === limit || events.length < found }
  }
}

/** How many events to read next for a page of the intended length, judged by the events just read. */
function nextLimit(limit: number, { found, length }: EventPage): number {
  const fitting = length === 0 ? PAGES.most : Math.floor((found * MAX_PAGE_LENGTH) / length)
  return Math.max(1, Math.min(PAGES.most, 2 * limit, fitting))
}

export type JournalRow = JournalEvent | UnknownEvent

/**
 * The recorded events of a run as frames, from a position on. A run that was paused before it and still is ends with that
 * pause again: results of only some calls do not continue it.
 */
export function rowsToFrames(id: ConversationId, rows: readonly JournalRow[], from: number): AnyFrame[] {
  const maker = new FrameMaker(id)
  const frames = rows.flatMap((row) => {
    const made = maker.rows(row, 0)
    return row.position < from ? [] : made
  })
  if (!staysPaused(rows, from)) return frames
  return [...frames, { id: String(rows.at(-1)?.position ?? from), type: "done", data: { status: "paused" } }]
}

/** Whether a run was paused before a position and did nothing since. */
function staysPaused(rows: readonly JournalRow[], from: number): boolean {
  const calls = new PendingCalls()
  let waits = false
  for (const row of rows) {
    if (row.position >= from && !waits) return false
    if (isKnown(row)) calls.add(row)
    waits = calls.paused
  }
  return waits
}

export function fixedSource(frames: readonly AnyFrame[]): FrameSource<AnyFrame> {
  const left = [frames]
  return { next: async () => left.pop(), close() {} }
}

/** Frames, followed by those of a source. */
export function prependFrames(first: readonly AnyFrame[], source: FrameSource): FrameSource {
  let isSent = false
  return {
    async next() {
      if (isSent) return source.next()
      isSent = true
      return first
    },
    close: () => source.close(),
  }
}

/** Most runs per read, the newest; fewer if they have more characters than this. */
const MAX_RUNS = 50
const MAX_LENGTH = 1_000_000

interface UpTo {
  readonly id: ConversationId
  /** The last position of the newest run. */
  readonly position: number
}

interface RecordedRuns {
  /** The frames of each run, oldest first. */
  readonly runs: readonly (readonly UnknownFrame[])[]
  /** The last position before them; null if there are none. */
  readonly before: number | null
}

/** Reads the runs of a conversation backwards from a position. */
export async function readRecordedRuns(ports: StreamPorts, { id, position }: UpTo): Promise<RecordedRuns> {
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
    length += rowsLength(page.events as readonly JournalEvent[]) // events of a newer version have a length too
    after = page.events.at(-1)?.position ?? after
    more = page.more && after < end
  }
  return { frames, length }
}

/**
 * A paused run from a position to its pause, including what happened during it: a decision, or some of several results. Read
 * as it is pulled.
 */
export function pausedRun(
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

/** Tracks whether a run is paused, and which of its pauses it has left. */
export class RunPauses {
  readonly #calls = new PendingCalls()
  #pausedAt: number | undefined
  #endedAt: number | undefined

  add(row: JournalRow): void {
    // Events of the next run are ignored.
    if (this.#endedAt !== undefined || !isKnown(row)) return
    const before = this.#calls.paused
    this.#calls.add(row)
    if (this.#calls.paused && !before) this.#pausedAt = row.position
    if (row.type === "run_ended") this.#endedAt = row.position
  }

  get paused(): boolean {
    return this.#calls.paused
  }

  /** The last position whose pauses the run has left, if it was read up to `position`: all but the current pause. */
  overUpTo(position: number): number {
    if (this.#endedAt !== undefined) return this.#endedAt
    return this.paused && this.#pausedAt !== undefined ? this.#pausedAt - 1 : position
  }
}
