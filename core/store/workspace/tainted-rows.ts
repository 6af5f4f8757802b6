import type { UserId } from "../../protocol/ids.ts"
import { pendingMarks, type TaintedRows } from "../../protocol/workspace.ts"
import { inPortions, padded, type WorkspaceStatement } from "../../workspace/layout.ts"
import type { Engine } from "../engine/engine.ts"

/** The place of rows in the server's own workspace. */
export const ON_SERVER = ""

/** Marks of stored texts that were written by a run with untrusted content. */
export class SqlTaintedRows implements TaintedRows {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  async find(user: UserId, place: string, ids: readonly string[]): Promise<readonly string[]> {
    const found: string[] = []
    for (const some of inPortions(ids)) {
      const values = padded(some)
      const marks = values.map(() => "?").join(", ")
      const sql = `SELECT id FROM tainted_row WHERE person = ? AND place = ? AND (id IN (${marks}) OR id LIKE ?)`
      const rows = await this.#engine.query<{ id: string }>(sql, [user, place, ...values, pendingMarks])
      found.push(...rows.map(({ id }) => id))
    }
    return found
  }

  async add(user: UserId, place: string, ids: readonly string[]): Promise<void> {
    const statements = ids.map((id) => markRow({ user, place, id }, this.#now()))
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  async remove(user: UserId, place: string, ids: readonly string[]): Promise<void> {
    const statements = ids.map((id) => unmarkRow({ user, place, id }))
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }
}

interface MarkedRow {
  readonly user: UserId
  readonly place: string
  readonly id: string
}

export function markRow({ user, place, id }: MarkedRow, now: number): WorkspaceStatement {
  const sql = `INSERT INTO tainted_row (person, place, id, taint, created_at) VALUES (?, ?, ?, 'untrusted', ?)
    ON CONFLICT (person, place, id) DO NOTHING`
  return { sql, values: [user, place, id, now] }
}

export function unmarkRow({ user, place, id }: MarkedRow): WorkspaceStatement {
  return { sql: "DELETE FROM tainted_row WHERE person = ? AND place = ? AND id = ?", values: [user, place, id] }
}
