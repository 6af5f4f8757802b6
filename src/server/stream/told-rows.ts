import { isKnown } from "../../agent/replay/replay.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker } from "./frame-maker.ts"
import { PendingCalls } from "./pending-calls.ts"

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
