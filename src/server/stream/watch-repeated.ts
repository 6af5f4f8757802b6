import type { MessageInput } from "../../agent/input.ts"
import { isKnown } from "../../agent/replay/replay.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { subscribe } from "./open-stream.ts"
import type { StreamPorts } from "./ports.ts"
import { PendingCalls } from "./pending-calls.ts"
import { RunFrames } from "./run-frames.ts"
import { framesOfRun } from "./say-and-watch.ts"
import { type JournalRow, staysPaused, toldRows, toldSource, toldPause } from "./told-rows.ts"

export interface Repeated {
  readonly id: ConversationId
  readonly message: MessageInput
  /** Where the conversation was when the request came. */
  readonly position: number
  /** To its end as it stands now: without the pauses that it has gone on from since. */
  readonly asItStands?: boolean
}

export interface WatchedAgain {
  readonly frames: FrameSource
  /** Others have to be answered first. */
  readonly waits: boolean
  /** Where its run begins, and where what it brought does; 0 where it has not begun. */
  readonly start: number
  readonly from: number
}

/** The frames of the run that a message has entered which was sent before, from its beginning; it is not begun again. */
export async function watchRepeated(ports: StreamPorts, repeated: Repeated): Promise<WatchedAgain> {
  const { id, message, position, asItStands } = repeated
  let place = await ports.conversations.placeOf(id, message.id)
  if (place === undefined) {
    // It is on its way in, or its process died before it was kept. Sent now, it is taken once all the same.
    await ports.runtime.submit(id, message)
    place = (await ports.conversations.placeOf(id, message.id)) ?? "waiting"
  }
  const waits = place === "waiting"
  const start = place === "waiting" ? 0 : await ports.conversations.runStart(id, place)
  // Words stand right behind the row that starts their run; those that were let into a working one stand alone.
  const from = place === "waiting" ? position + 1 : place === start + 1 ? start : place
  const left = asItStands && !waits ? { pausesUpTo: await pausesLeft(ports, { id, start, position }) } : {}
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return {
    frames: framesOfRun(ports, source, { id, position, message: message.id, waits, ...left }),
    waits,
    start,
    from,
  }
}

interface GoingOn {
  readonly id: ConversationId
  /** Where the conversation stands. */
  readonly position: number
  /** Of the rows of its newest run: the first that is told. */
  isFirst(event: JournalEvent): boolean
}

/**
 * The frames of the newest run from a row on, to its end as it stands now. Where it has no such row there is nothing to
 * tell: it is over.
 */
export async function watchOn(ports: StreamPorts, { id, position, isFirst }: GoingOn): Promise<FrameSource> {
  const start = await ports.conversations.runStart(id, position)
  const rows = await ports.journal.read(id, { after: start - 1, upTo: position })
  const first = rows.find((event) => isKnown(event) && isFirst(event))
  if (!first) return toldSource([{ id: String(position), type: "done", data: { status: "completed" } }])
  if (staysPaused(rows, first.position)) return toldSource(toldRows(id, rows, first.position))
  const pauses = pausesLeftOf(rows, position)
  const source = await subscribe(ports, { id, after: { position: first.position - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses })
}

/** The frames of the run that begins at a row, from there to its end as it stands now. */
export async function watchRun(
  ports: StreamPorts,
  run: { readonly id: ConversationId; readonly start: number; readonly position: number },
): Promise<FrameSource> {
  const { id, start, position } = run
  const rows = await ports.journal.read(id, { after: start - 1, upTo: position })
  const paused = toldPause(id, rows)
  if (paused) return toldSource(paused)
  const pausesUpTo = pausesLeftOf(rows, position)
  const source = await subscribe(ports, { id, after: { position: start - 1, offset: 0 } })
  return new RunFrames(source, { position: pausesUpTo })
}

/** Up to where a run has gone on from its pauses: all that are on record, but the one that it is in. */
export async function pausesLeft(
  { journal }: StreamPorts,
  { id, start, position }: { id: ConversationId; start: number; position: number },
): Promise<number> {
  return pausesLeftOf(await journal.read(id, { after: start - 1, upTo: position }), position)
}

/** The same of its rows up to a position. */
export function pausesLeftOf(rows: readonly JournalRow[], position: number): number {
  const calls = new PendingCalls()
  let pausedAt = position + 1
  for (const event of rows) {
    if (!isKnown(event)) continue
    const before = calls.paused
    calls.see(event)
    if (calls.paused && !before) pausedAt = event.position
    // The next run, and whatever it pauses at, is not this one's.
    if (event.type === "run_ended") return event.position
  }
  return calls.paused ? pausedAt - 1 : position
}
