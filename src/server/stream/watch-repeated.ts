import type { MessageInput } from "../../agent/input.ts"
import { isKnown } from "../../agent/replay/replay.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { subscribe } from "./open-stream.ts"
import { FollowedPauses } from "./followed-pauses.ts"
import type { StreamPorts } from "./ports.ts"
import { RunFrames } from "./run-frames.ts"
import { type RunRange, runRows } from "./run-rows.ts"
import { framesOfRun } from "./say-and-watch.ts"
import { toldPause } from "./told-pause.ts"
import { toldSource } from "./told-rows.ts"

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
  const left =
    asItStands && !waits ? { pausesUpTo: (await pausesOf(ports, { id, start, position })).leftUpTo(position) } : {}
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
  const pauses = new FollowedPauses()
  let from: number | undefined
  let stays = true
  for await (const rows of runRows(ports, { id, start, position }))
    for (const row of rows) {
      if (from === undefined && isKnown(row) && isFirst(row)) from = row.position
      // Whether it waited before that row, and has done nothing else since.
      if (from !== undefined) stays &&= pauses.paused
      pauses.see(row)
    }
  if (from === undefined) return toldSource([{ id: String(position), type: "done", data: { status: "completed" } }])
  if (stays && pauses.paused) return toldPause(ports, { id, start, position, from })
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.leftUpTo(position) })
}

/** The frames of the run that begins at a row, from there to its end as it stands now. */
export async function watchRun(ports: StreamPorts, run: RunRange): Promise<FrameSource> {
  const { id, start, position } = run
  const pauses = await pausesOf(ports, run)
  if (pauses.paused) return toldPause(ports, { ...run, from: start })
  const source = await subscribe(ports, { id, after: { position: start - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.leftUpTo(position) })
}

async function pausesOf(ports: StreamPorts, run: RunRange): Promise<FollowedPauses> {
  const pauses = new FollowedPauses()
  for await (const rows of runRows(ports, run)) for (const row of rows) pauses.see(row)
  return pauses
}
