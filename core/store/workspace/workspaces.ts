import { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import { KeyedLock } from "../../shared/concurrency/locks.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { AnyRow, Applied, RowChange } from "../../protocol/workspace.ts"
import { type TableName, tableNames } from "../../protocol/workspace-tables.ts"
import type { Engine } from "../engine/engine.ts"
import type { NoteVectors, WorkspaceKeeper } from "./keeper.ts"
import { SqlWorkspace } from "./workspace.ts"

export type ChangeListener = (person: UserId, changes: readonly RowChange[]) => void

/** Everybody's workspaces in the server's own database, and who is told when one has changed in this process. */
export class SqlWorkspaces implements WorkspaceKeeper {
  readonly engine: Engine
  readonly now: () => number
  /** Set once by whoever keeps them. */
  vectors: NoteVectors | undefined
  /** Writes of one person wait for each other: planned at the same time, all but the first would be planned in vain. */
  readonly writes = new KeyedLock<UserId>()
  readonly turns = new FairTurns()
  readonly #listeners = new Set<ChangeListener>()

  constructor(engine: Engine, now: () => number) {
    this.engine = engine
    this.now = now
  }

  of(person: UserId): SqlWorkspace {
    return new SqlWorkspace(this, person)
  }

  /** Told after each commit, never before. What a listener throws is a warning and nobody's else. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(person: UserId, applied: Applied): void {
    const changes = changesOf(applied)
    if (changes.length === 0) return
    for (const listener of this.#listeners) {
      try {
        listener(person, changes)
      } catch (error) {
        process.emitWarning(error as Error) // the write is done, and its caller must learn so
      }
    }
  }
}

/** What a write has changed, row by row. */
export function changesOf({ action, table, before, after, with: others }: Applied): RowChange[] {
  if (action === "update" && before === after) return []
  const gone = action === "delete"
  const change = (of: TableName, row: AnyRow): RowChange => ({ table: of, id: row.id, row: gone ? null : row })
  const row = after ?? before
  const along = tableNames.flatMap((name) => (others[name] ?? []).map((other) => change(name, other)))
  return [...(row ? [change(table, row)] : []), ...along]
}
