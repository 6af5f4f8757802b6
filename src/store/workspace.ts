import { failure } from "../protocol/errors.ts"
import type { CallId, UserId } from "../protocol/ids.ts"
import type { DeviceFilters } from "../protocol/socket.ts"
import { toStorableJson } from "../protocol/text.ts"
import type {
  Applied,
  Match,
  RowOf,
  RowsByTable,
  Vector,
  Workspace,
  WorkspaceWrite,
} from "../protocol/workspace-port.ts"
import type { TableName, Task } from "../protocol/workspace-tables.ts"
import { findHanging, findRow, findRows } from "../workspace/find-rows.ts"
import type { Row } from "../workspace/known-tables.ts"
import type { Layout, Statement } from "../workspace/layout.ts"
import { goneNotes, type Plan, planWrite } from "../workspace/plan-write.ts"
import { followSteps, type Steps } from "../workspace/steps.ts"
import type { Workspaces } from "./workspaces.ts"

const ATTEMPTS = 20

const TABLES: Readonly<Record<TableName, string>> = {
  tasks: "task",
  projects: "project",
  checkpoints: "checkpoint",
  notes: "note",
  taskComments: "task_comment",
  clients: "client",
}

/** A person's workspace in the server's own database. */
export class SqlWorkspace implements Workspace {
  readonly #all: Workspaces
  readonly #person: UserId
  readonly #layout: Layout

  constructor(all: Workspaces, person: UserId) {
    this.#all = all
    this.#person = person
    this.#layout = { table: (name) => TABLES[name], column: toSnakeCase, tie: "id", owner: ownedBy(person) }
  }

  async select<Name extends TableName>(table: Name, filters: DeviceFilters = {}): Promise<RowOf<Name>[]> {
    return (await this.#follow(findRows(this.#layout, table, filters))) as unknown as RowOf<Name>[]
  }

  async get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined> {
    return (await this.#follow(findRow(this.#layout, table, id))) as unknown as RowOf<Name> | undefined
  }

  async hanging(table: TableName, id: string): Promise<RowsByTable> {
    return (await this.#follow(findHanging(this.#layout, table, id))) as unknown as RowsByTable
  }

  write(write: WorkspaceWrite, callId: CallId): Promise<Applied> {
    return this.#change((now) => planWrite({ layout: this.#layout, now }, write), callId)
  }

  /** A change by the person's own hand: nobody will ask what became of it, so it is not noted. */
  edit(write: WorkspaceWrite): Promise<Applied> {
    return this.#change((now) => planWrite({ layout: this.#layout, now }, write))
  }

  async outcome(callId: CallId): Promise<Applied | undefined> {
    return (await this.#standing(callId)).noted
  }

  upsertVector(note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void> {
    return this.#vectors.upsert(this.#person, note, vector)
  }

  nearest(vector: Vector, options: { limit: number; projectId?: string | null }): Promise<Match[]> {
    return this.#vectors.nearest(this.#person, vector, options)
  }

  get #vectors() {
    const { vectors } = this.#all
    if (!vectors) throw failure("bad_request", { problem: "This server keeps no vectors of notes." })
    return vectors
  }

  /** One after the other in this process; of two processes the later one finds the count moved, and plans again. */
  #change(plan: (now: number) => Steps<Plan>, callId?: CallId): Promise<Applied> {
    return this.#all.inLine(this.#person, async () => {
      let last: number | undefined
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { version, noted } = await this.#standing(callId)
        if (noted) return noted
        if (version === last)
          throw failure("bad_request", { problem: "An id of these rows is taken, so nothing was put back." })
        last = version
        const now = this.#all.now()
        const { applied, statements } = await this.#follow(plan(now))
        const all = [this.#count(version), ...this.#note(callId, applied, now), ...statements, ...this.#forget(applied)]
        const outcome = await this.#all.engine.change({ type: "statements", statements: all })
        if (!outcome.ok) continue
        this.#all.tell(this.#person, applied)
        return applied
      }
      throw failure("store_unavailable", { problem: "the workspace changes faster than it can be written to" })
    })
  }

  /** How often it was written to, read before everything else; and what the call came to, if it was applied before. */
  async #standing(callId?: CallId): Promise<{ version: number; noted: Applied | undefined }> {
    const sql = `SELECT (SELECT version FROM workspace WHERE person = ?) AS version,
      (SELECT answer FROM applied_call WHERE call_id = ? AND (person = ? OR person IS NULL)) AS answer`
    const values = [this.#person, callId ?? "", this.#person]
    const [row] = await this.#all.engine.query<{ version: number | null; answer: string | null }>(sql, values)
    const { version = null, answer = null } = row ?? {}
    return { version: version ?? 0, noted: answer === null ? undefined : await this.#noted(answer) }
  }

  #count(version: number): Statement {
    return version === 0
      ? {
          sql: "INSERT INTO workspace (person, version) VALUES (?, 1) ON CONFLICT (person) DO NOTHING",
          values: [this.#person],
          mustChange: true,
        }
      : {
          sql: "UPDATE workspace SET version = version + 1 WHERE person = ? AND version = ?",
          values: [this.#person, version],
          mustChange: true,
        }
  }

  /** The effect and the note that this call had it are one commit: after a crash either both are there or neither. */
  #note(callId: CallId | undefined, applied: Applied, now: number): Statement[] {
    if (callId === undefined) return []
    const sql =
      "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING"
    return [{ sql, values: [callId, toStorableJson(applied), now, this.#person], mustChange: true }]
  }

  /** In the same transaction: what is gone must not be found by its meaning. */
  #forget(applied: Applied): readonly Statement[] {
    const notes = goneNotes(applied)
    return notes.length > 0 ? (this.#all.vectors?.forget(this.#person, notes) ?? []) : []
  }

  /** Before there were six tables the task alone was noted, whether it had come or gone. */
  async #noted(answer: string): Promise<Applied> {
    const noted = JSON.parse(answer) as Applied | Task
    if ("action" in noted) return noted
    const there = await this.get("tasks", noted.id)
    const about = { table: "tasks", with: {} } as const
    if (there) return { ...about, action: "insert", before: null, after: noted }
    return { ...about, action: "delete", before: noted, after: null }
  }

  #follow<T>(steps: Steps<T>): Promise<T> {
    return followSteps(steps, async ({ sql, values }) => {
      const rows = await this.#all.engine.query<Row>(sql, values)
      return rows.map((row) => ({ ...row }))
    })
  }
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const ownedBy = (person: UserId) => ({ column: "person", value: person })
