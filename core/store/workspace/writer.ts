import { failure } from "../../protocol/errors.ts"
import type { CallId, UserId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import { type Applied, type Taint, writtenIds } from "../../protocol/workspace.ts"
import type { TableName, Task } from "../../protocol/workspace-tables.ts"
import { findRow } from "../../workspace/find-rows.ts"
import type { Row, Rows } from "../../workspace/known-tables.ts"
import type { Layout, WorkspaceStatement } from "../../workspace/layout.ts"
import type { StatementPlan } from "../../workspace/plan-write.ts"
import { followSteps, type Steps } from "../../workspace/steps.ts"
import type { WorkspaceContext } from "./workspace-context.ts"
import { markRow, ON_SERVER, SqlTaintedRows, unmarkRow } from "./tainted-rows.ts"

const ATTEMPTS = 20

/** Recorded in place of an outcome: the call was not applied, and never will be. */
const NEVER_APPLIED = "null"

const TABLES: Readonly<Record<TableName, string>> = {
  tasks: "task",
  projects: "project",
  checkpoints: "checkpoint",
  notes: "note",
  taskComments: "task_comment",
  clients: "client",
}

interface WorkspaceState {
  /** The number of writes. */
  readonly version: number
  /** The outcome of the call, if it was applied before. */
  readonly noted: Applied | undefined
  readonly isBarred: boolean
  readonly sample: Rows | undefined
}

/**
 * Reads and changes one person's rows. Each change is one transaction that succeeds only if what it read is still
 * current.
 */
export class WorkspaceWriter {
  readonly layout: Layout
  readonly #context: WorkspaceContext
  readonly #person: UserId
  readonly #tainted: SqlTaintedRows

  constructor(context: WorkspaceContext, person: UserId) {
    this.#context = context
    this.#person = person
    this.#tainted = new SqlTaintedRows(context.engine, context.now)
    const owner = { column: "person", value: person }
    this.layout = { table: (name) => TABLES[name], column: toSnakeCase, tie: "id", owner }
  }

  /** Queries take turns with others, because SQLite answers at once and awaiting it does not yield. */
  follow<T>(steps: Steps<T>): Promise<T> {
    return followSteps(steps, async ({ sql, values }) => {
      const turn = this.#context.turns.enter(this.#person)
      if (turn) await turn
      const rows = await this.#context.engine.query<Row>(sql, values)
      return rows.map((row) => ({ ...row }))
    })
  }

  /**
   * Plans and applies a change. Serialized in this process; another process's write changes the version, and the change
   * is planned again. The outcome of a call is recorded, and the same call again returns it.
   */
  change<P extends StatementPlan>(
    plan: (now: number, standing: WorkspaceState) => Steps<P>,
    callId?: CallId,
    taint?: Taint,
  ): Promise<P> {
    return this.#context.writes.run(this.#person, async () => {
      let last: number | undefined
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const standing = await this.standing(callId)
        const { version, noted, isBarred } = standing
        if (isBarred) throw failure("bad_request", { problem: "This call was given up; it is not done any more." })
        if (noted) return { applied: noted, statements: [] as readonly WorkspaceStatement[] } as P
        // The version has not changed, so a concurrent write is not the cause.
        if (version === last) throw failure("bad_request", { problem: "An id of these rows is taken." })
        last = version
        const now = this.#context.now()
        const planned = await this.follow(plan(now, standing))
        const { applied } = planned
        const note = callId === undefined ? [] : [this.#note(callId, applied, now)]
        // In the same transaction: a row without its mark would be taken for the person's own.
        const marks = taint ? writtenIds(applied).map((id) => this.mark(id, now)) : []
        const followed = this.#followVectors(applied)
        const statements = [this.#count(version), ...note, ...planned.statements, ...marks, ...followed]
        const outcome = await this.#context.engine.change({ type: "statements", statements })
        if (!outcome.ok) continue
        this.#context.tell(this.#person, applied)
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

  /** The person has replaced all texts of the row, so none of the marked content is left. */
  unmark(id: string): WorkspaceStatement {
    return unmarkRow(this.#placeOf(id))
  }

  marked(ids: readonly string[]): Promise<readonly string[]> {
    return this.#tainted.find(this.#person, ON_SERVER, ids)
  }

  /** Read first, so that everything that is read afterwards is not older. */
  async standing(callId?: CallId): Promise<WorkspaceState> {
    const sql = `SELECT (SELECT version FROM workspace WHERE person = ?) AS version,
      (SELECT sample FROM workspace WHERE person = ?) AS sample,
      (SELECT answer FROM applied_call WHERE call_id = ? AND (person = ? OR person IS NULL)) AS answer`
    const values = [this.#person, this.#person, callId ?? "", this.#person]
    type Found = { version: number | null; sample: string | null; answer: string | null }
    const [found] = await this.#context.engine.query<Found>(sql, values)
    const { version = null, sample = null, answer = null } = found ?? {}
    return {
      version: version ?? 0,
      noted: answer === null || answer === NEVER_APPLIED ? undefined : await this.#noted(answer),
      isBarred: answer === NEVER_APPLIED,
      sample: sample === null ? undefined : (JSON.parse(sample) as Rows),
    }
  }

  /** Records that the call must not be applied, unless it already was. The call's own record then fails. */
  async bar(callId: CallId): Promise<Applied | undefined> {
    const note = this.#noteOf(callId, NEVER_APPLIED, this.#context.now())
    await this.#context.engine.change({ type: "statements", statements: [{ ...note, mustChange: false }] })
    return (await this.standing(callId)).noted
  }

  /** Stores the sample's rows while it is loaded; part of the change that loads or removes it. */
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

  /** The write and the record of its call are one commit: after a crash there are both or neither. */
  #note(callId: CallId, applied: Applied, now: number): WorkspaceStatement {
    return this.#noteOf(callId, toStorableJson(applied), now)
  }

  #noteOf(callId: CallId, answer: string, now: number): WorkspaceStatement {
    const sql =
      "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING"
    return { sql, values: [callId, answer, now, this.#person], mustChange: true }
  }

  /** In the same transaction: a deleted note must not be found, and a changed one not by its previous text. */
  #followVectors(applied: Applied): readonly WorkspaceStatement[] {
    return this.#context.vectors?.follow(this.#person, applied) ?? []
  }

  /** Old records contain a task alone, whether it was inserted or deleted. */
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
