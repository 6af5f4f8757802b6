import { failure } from "../../protocol/errors.ts"
import type { CallId, UserId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import { type Applied, type Taint, writtenIds } from "../../protocol/workspace.ts"
import type { TableName, Task } from "../../protocol/workspace-tables.ts"
import { findRow } from "../../../packs/workspace/rows/find-rows.ts"
import type { Row, Rows } from "../../../packs/workspace/rows/known-tables.ts"
import type { Layout, WorkspaceStatement } from "../../../packs/workspace/rows/layout.ts"
import type { StatementPlan } from "../../../packs/workspace/rows/plan-write.ts"
import { followSteps, type Steps } from "../../../packs/workspace/rows/steps.ts"
import type { WorkspaceKeeper } from "./keeper.ts"
import { markRow, ON_SERVER, SqlTaintedRows, unmarkRow } from "./tainted-rows.ts"

const ATTEMPTS = 20

/** Noted in place of what a call came to: it was not applied, and never is. */
const BARRED = "null"

const TABLES: Readonly<Record<TableName, string>> = {
  tasks: "task",
  projects: "project",
  checkpoints: "checkpoint",
  notes: "note",
  taskComments: "task_comment",
  clients: "client",
}

interface Standing {
  /** How often it was written to. */
  readonly version: number
  /** What the call came to, if it was applied before. */
  readonly noted: Applied | undefined
  readonly isBarred: boolean
  readonly sample: Rows | undefined
}

/** Reads and changes one person's rows: every change is one transaction that holds only while what it read holds. */
export class WorkspaceWriter {
  readonly layout: Layout
  readonly #all: WorkspaceKeeper
  readonly #person: UserId
  readonly #tainted: SqlTaintedRows

  constructor(all: WorkspaceKeeper, person: UserId) {
    this.#all = all
    this.#person = person
    this.#tainted = new SqlTaintedRows(all.engine, all.now)
    const owner = { column: "person", value: person }
    this.layout = { table: (name) => TABLES[name], column: toSnakeCase, tie: "id", owner }
  }

  /** Others have turns between the queries: SQLite answers at once, so that awaiting it gives none. */
  follow<T>(steps: Steps<T>): Promise<T> {
    return followSteps(steps, async ({ sql, values }) => {
      const turn = this.#all.turns.enter(this.#person)
      if (turn) await turn
      const rows = await this.#all.engine.query<Row>(sql, values)
      return rows.map((row) => ({ ...row }))
    })
  }

  /**
   * Plans and applies. One after the other in this process; of two processes the later one finds the count moved, and
   * plans again. With a call the change is noted, and the same call again comes to what it came to first.
   */
  change<P extends StatementPlan>(
    plan: (now: number, standing: Standing) => Steps<P>,
    callId?: CallId,
    taint?: Taint,
  ): Promise<P> {
    return this.#all.writes.run(this.#person, async () => {
      let last: number | undefined
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const standing = await this.standing(callId)
        const { version, noted, isBarred } = standing
        if (isBarred) throw failure("bad_request", { problem: "This call was given up; it is not done any more." })
        if (noted) return { applied: noted, statements: [] as readonly WorkspaceStatement[] } as P
        // Nobody was there in between, so it is not for them that nothing was changed.
        if (version === last) throw failure("bad_request", { problem: "An id of these rows is taken." })
        last = version
        const now = this.#all.now()
        const planned = await this.follow(plan(now, standing))
        const { applied } = planned
        const note = callId === undefined ? [] : [this.#note(callId, applied, now)]
        // In the same transaction: a row without its mark would be read as the person's own.
        const marks = taint ? writtenIds(applied).map((id) => this.mark(id, now)) : []
        const followed = this.#followVectors(applied)
        const statements = [this.#count(version), ...note, ...planned.statements, ...marks, ...followed]
        const outcome = await this.#all.engine.change({ type: "statements", statements })
        if (!outcome.ok) continue
        this.#all.tell(this.#person, applied)
        return planned
      }
      throw failure("store_unavailable", { problem: "the workspace changes faster than it can be written to" })
    })
  }

  #placeOf(id: string) {
    return { user: this.#person, place: ON_SERVER, id }
  }

  mark(id: string, now: number): WorkspaceStatement {
    return markRow(this.#placeOf(id), now)
  }

  /** The person has written every text of the row anew: nothing of what was marked is left. */
  unmark(id: string): WorkspaceStatement {
    return unmarkRow(this.#placeOf(id))
  }

  /** Those of these rows that are marked. */
  marked(ids: readonly string[]): Promise<readonly string[]> {
    return this.#tainted.find(this.#person, ON_SERVER, ids)
  }

  /** Read before everything else: whatever is read after it is not older. */
  async standing(callId?: CallId): Promise<Standing> {
    const sql = `SELECT (SELECT version FROM workspace WHERE person = ?) AS version,
      (SELECT sample FROM workspace WHERE person = ?) AS sample,
      (SELECT answer FROM applied_call WHERE call_id = ? AND (person = ? OR person IS NULL)) AS answer`
    const values = [this.#person, this.#person, callId ?? "", this.#person]
    type Found = { version: number | null; sample: string | null; answer: string | null }
    const [found] = await this.#all.engine.query<Found>(sql, values)
    const { version = null, sample = null, answer = null } = found ?? {}
    return {
      version: version ?? 0,
      noted: answer === null || answer === BARRED ? undefined : await this.#noted(answer),
      isBarred: answer === BARRED,
      sample: sample === null ? undefined : (JSON.parse(sample) as Rows),
    }
  }

  /** Of a call and this, one is noted, whichever comes first: the call finds its place taken and is not done. */
  async bar(callId: CallId): Promise<Applied | undefined> {
    const note = this.#noteOf(callId, BARRED, this.#all.now())
    await this.#all.engine.change({ type: "statements", statements: [{ ...note, mustChange: false }] })
    return (await this.standing(callId)).noted
  }

  /** What the sample was when it was loaded, for as long as it is; part of the change that loads it or takes it out. */
  rememberSample(rows: Rows | undefined): WorkspaceStatement {
    const sql = "UPDATE workspace SET sample = ? WHERE person = ?"
    return { sql, values: [rows ? JSON.stringify(rows) : null, this.#person] }
  }

  #count(version: number): WorkspaceStatement {
    if (version === 0) {
      const sql = "INSERT INTO workspace (person, version) VALUES (?, 1) ON CONFLICT (person) DO NOTHING"
      return { sql, values: [this.#person], mustChange: true }
    }
    const sql = "UPDATE workspace SET version = version + 1 WHERE person = ? AND version = ?"
    return { sql, values: [this.#person, version], mustChange: true }
  }

  /** The effect and the note that this call had it are one commit: after a crash either both are there or neither. */
  #note(callId: CallId, applied: Applied, now: number): WorkspaceStatement {
    return this.#noteOf(callId, toStorableJson(applied), now)
  }

  #noteOf(callId: CallId, answer: string, now: number): WorkspaceStatement {
    const sql =
      "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING"
    return { sql, values: [callId, answer, now, this.#person], mustChange: true }
  }

  /** In the same transaction: what is gone must not be found by its meaning, and what has changed by its former one. */
  #followVectors(applied: Applied): readonly WorkspaceStatement[] {
    return this.#all.vectors?.follow(this.#person, applied) ?? []
  }

  /** Before there were six tables the task alone was noted, whether it had come or gone. */
  async #noted(answer: string): Promise<Applied> {
    const noted = JSON.parse(answer) as Applied | Task
    if ("action" in noted) return noted
    const there = await this.follow(findRow(this.layout, "tasks", noted.id))
    const about = { table: "tasks", with: {} } as const
    if (there) return { ...about, action: "insert", before: null, after: noted }
    return { ...about, action: "delete", before: noted, after: null }
  }
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
