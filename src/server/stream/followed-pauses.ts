import { isKnown } from "../../agent/replay/replay.ts"
import { PendingCalls } from "./pending-calls.ts"
import type { JournalRow } from "./told-rows.ts"

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
