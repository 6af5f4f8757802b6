import { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import { KeyedLock } from "../../shared/concurrency/locks.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { AnyRow, Applied, RowChange } from "../../protocol/workspace.ts"
import { type TableName, tableNames } from "../../protocol/workspace-tables.ts"
import type { Engine } from "../engine/engine.ts"
import type { NoteVectors, WorkspaceContext } from "./workspace-context.ts"
import { SqlWorkspace } from "./workspace.ts"

export type ChangeListener = (person: UserId, changes: readonly RowChange[]) => void

/** All workspaces in the server's database, and listeners for changes in this process. */
export class SqlWorkspaces implements WorkspaceContext {
  readonly engine: Engine
  readonly now: () => number
  /** Set by the indexer. */
  vectors: NoteVectors | undefined
  /** Writes of one person are serialized, because only the first of several concurrent plans would succeed. */
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

  /** Called after each commit. An error of a listener becomes a warning. */
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
        process.emitWarning(error as Error) // the write is done, and its caller must learn that
      }
    }
  }
}

/** The row changes of a write. */
export function changesOf({ action, table, before, after, with: others }: Applied): RowChange[] {
  if (action === "update" && before === after) return []
  const gone = action === "delete"
  const change = (of: TableName, row: AnyRow): RowChange => ({ table: of, id: row.id, row: gone ? null : row })
  const row = after ?? before
  const along = tableNames.flatMap((name) => (others[name] ?? []).map((other) => change(name, other)))
  return [...(row ? [change(table, row)] : []), ...along]
}
