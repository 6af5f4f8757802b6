import type { CallProgress } from "../../protocol/conversation/call-progress.ts"
import { type Cursor, toCursor } from "../../protocol/cursor.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { CallId } from "../../protocol/ids.ts"

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
