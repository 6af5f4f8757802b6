import type { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import type { KeyedLock } from "../../shared/concurrency/locks.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Applied, NoteMatch, Vector } from "../../protocol/workspace.ts"
import type { WorkspaceStatement } from "../../workspace/layout.ts"
import type { Engine } from "../engine/engine.ts"

/** The dependencies of a person's workspace. */
export interface WorkspaceContext {
  readonly engine: Engine
  readonly now: () => number
  readonly vectors: NoteVectors | undefined
  /** Writes of one person are serialized, because only the first of several concurrent plans would succeed. */
  readonly writes: Pick<KeyedLock<UserId>, "run">
  /** Divides the event loop fairly among readers. */
  readonly turns: FairTurns
  /** To be called after each commit. */
  tell(person: UserId, applied: Applied): void
}

/** A store for the vectors of notes. */
export interface NoteVectors {
  upsert(person: UserId, note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void>
  nearest(person: UserId, vector: Vector, options: { limit: number; projectId?: string | null }): Promise<NoteMatch[]>
  /** Statements that belong to the transaction of the write. */
  follow(person: UserId, applied: Applied): readonly WorkspaceStatement[]
  /** How many of a person's notes are not up to date in the index, and how many there are. */
  progress(person: UserId): Promise<{ waiting: number; all: number }>
}
