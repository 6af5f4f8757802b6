import type { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import type { KeyedLock } from "../../shared/concurrency/locks.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Applied, NoteMatch, Vector } from "../../protocol/workspace.ts"
import type { WorkspaceStatement } from "../../../packs/workspace/rows/layout.ts"
import type { Engine } from "../engine/engine.ts"

/** What one person's workspace needs of whoever keeps them all. */
export interface WorkspaceKeeper {
  readonly engine: Engine
  readonly now: () => number
  readonly vectors: NoteVectors | undefined
  /** Writes of one person wait for each other: planned at the same time, all but the first would be planned in vain. */
  readonly writes: Pick<KeyedLock<UserId>, "run">
  /** Shares the event loop among all who read. */
  readonly turns: FairTurns
  /** To be called after each commit. */
  tell(person: UserId, applied: Applied): void
}

/** Where the vectors of notes are kept. */
export interface NoteVectors {
  upsert(person: UserId, note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void>
  nearest(person: UserId, vector: Vector, options: { limit: number; projectId?: string | null }): Promise<NoteMatch[]>
  /** Statements that go into the transaction of the write itself. */
  follow(person: UserId, applied: Applied): readonly WorkspaceStatement[]
  /** How many of a person's notes cannot be found by what they say now, and of how many. */
  progress(person: UserId): Promise<{ waiting: number; all: number }>
}
