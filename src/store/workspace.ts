import { failure } from "../protocol/errors.ts"
import { type CallId, newId, type UserId } from "../protocol/ids.ts"
import { toStorableJson } from "../protocol/text.ts"
import type { NewTask, Task, TaskFilters, Workspace } from "../protocol/workspace.ts"
import type { Engine } from "./engine.ts"
import type { Statement } from "./operations.ts"

const ATTEMPTS = 5

/** A person's workspace in the server's own database. */
export class SqlWorkspace implements Workspace {
  readonly #engine: Engine
  readonly #person: UserId
  readonly #now: () => number

  constructor(engine: Engine, person: UserId, now: () => number) {
    this.#engine = engine
    this.#person = person
    this.#now = now
  }

  async list({ projectId, status, search, orderBy }: TaskFilters): Promise<Task[]> {
    const conditions = ["person = ?"]
    const values: unknown[] = [this.#person]
    const where = (column: string, value: string | null | undefined) => {
      if (value === null || value === undefined) return
      conditions.push(`${column} = ?`)
      values.push(value)
    }
    where("project_id", projectId)
    where("status", status)
    const sql = `SELECT ${COLUMNS} FROM task WHERE ${conditions.join(" AND ")}`
    const tasks = (await this.#engine.query<TaskRow>(sql, values)).map(toTask)
    // Here and not in SQL: the engines disagree about which letters are alike and about the order of words.
    const found = search ? tasks.filter((task) => mentions(task, search)) : tasks
    return found.sort((a, b) => ORDERS[orderBy ?? "createdAt"](a, b) || a.createdAt - b.createdAt)
  }

  async get(id: string): Promise<Task | undefined> {
    const sql = `SELECT ${COLUMNS} FROM task WHERE id = ? AND person = ?`
    const [row] = await this.#engine.query<TaskRow>(sql, [id, this.#person])
    return row && toTask(row)
  }

  async create(data: NewTask, callId: CallId): Promise<Task> {
    const now = this.#now()
    const task: Task = { id: newId("task", now), ...data, createdAt: now }
    const made = await this.#apply(task, callId, toInsert(this.#person, task))
    if (!made) throw failure("store_unavailable", { problem: `${callId} was neither applied nor noted` })
    return made
  }

  async delete(id: string, callId: CallId): Promise<Task | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const task = await this.get(id)
      if (!task) return this.outcome(callId)
      // Only as it was read: what is noted as deleted, and could be put back, is what really went.
      const deleted = await this.#apply(task, callId, toDelete(this.#person, task))
      if (deleted) return deleted
    }
    throw failure("store_unavailable", { problem: `${id} changes faster than it can be deleted` })
  }

  restore(task: Task, callId: CallId): Promise<Task | undefined> {
    return this.#apply(task, callId, toInsert(this.#person, task))
  }

  /** What the call has come to, now or before; undefined where the effect finds nothing to change. */
  async #apply(task: Task, callId: CallId, effect: Statement): Promise<Task | undefined> {
    // The effect and the note that this call had it are one commit: after a crash either both are there or neither.
    const note = {
      sql: "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING",
      values: [callId, toStorableJson(task), this.#now(), this.#person],
      mustChange: true,
    }
    const statements = [note, { ...effect, mustChange: true }]
    const outcome = await this.#engine.change({ type: "statements", statements })
    return outcome.ok ? task : this.outcome(callId)
  }

  async outcome(callId: CallId): Promise<Task | undefined> {
    const sql = "SELECT answer FROM applied_call WHERE call_id = ?"
    const [row] = await this.#engine.query<{ answer: string }>(sql, [callId])
    return row && (JSON.parse(row.answer) as Task)
  }
}

const COLUMNS =
  "id, project_id, title, description, status, priority, assignee, due_date, is_ai_suggested, is_approved, created_at"

interface TaskRow {
  readonly id: string
  readonly project_id: string | null
  readonly title: string
  readonly description: string | null
  readonly status: Task["status"]
  readonly priority: Task["priority"]
  readonly assignee: string | null
  readonly due_date: number | null
  readonly is_ai_suggested: 0 | 1
  readonly is_approved: 0 | 1
  readonly created_at: number
}

function toTask(row: TaskRow): Task {
  const { id, title, description, status, priority, assignee } = row
  return {
    id,
    projectId: row.project_id,
    title,
    description,
    status,
    priority,
    assignee,
    dueDate: row.due_date,
    isAiSuggested: row.is_ai_suggested,
    isApproved: row.is_approved,
    createdAt: row.created_at,
  }
}

/** Nothing where there is a task of this id already, whoever's it is. */
const toInsert = (person: UserId, task: Task): Statement => ({
  sql: `INSERT INTO task (person, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  values: [person, ...toValues(task)],
})

const toDelete = (person: UserId, task: Task): Statement => ({
  sql: `DELETE FROM task WHERE person = ? AND ${COLUMNS.split(", ")
    .map((column) => `${column} IS NOT DISTINCT FROM ?`)
    .join(" AND ")}`,
  values: [person, ...toValues(task)],
})

/** In the order of COLUMNS. */
function toValues(task: Task): unknown[] {
  const { id, projectId, title, description, status, priority, assignee, dueDate, createdAt } = task
  const about = [id, projectId, title, description, status, priority, assignee, dueDate]
  return [...about, task.isAiSuggested, task.isApproved, createdAt]
}

function mentions({ title, description }: Task, search: string): boolean {
  return `${title}\n${description ?? ""}`.toLowerCase().includes(search.trim().toLowerCase())
}

const URGENCY = { high: 0, medium: 1, low: 2 }

/** What comes first; a task without a due date comes after all that have one. */
const ORDERS: Record<NonNullable<TaskFilters["orderBy"]>, (a: Task, b: Task) => number> = {
  createdAt: () => 0,
  dueDate: (a, b) => (a.dueDate ?? Number.MAX_SAFE_INTEGER) - (b.dueDate ?? Number.MAX_SAFE_INTEGER),
  priority: (a, b) => URGENCY[a.priority] - URGENCY[b.priority],
  title: (a, b) => a.title.localeCompare(b.title),
}
