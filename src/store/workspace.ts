import { failure } from "../protocol/errors.ts"
import { type CallId, newId, type UserId } from "../protocol/ids.ts"
import { toStorableJson } from "../protocol/text.ts"
import type { NewTask, Task, TaskFilters, Workspace } from "../protocol/workspace.ts"
import type { Engine } from "./engine.ts"

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
    // The effect and the note that this call had it are one commit: after a crash either both are there or neither.
    const note = {
      sql: "INSERT INTO applied_call (call_id, answer, at) VALUES (?, ?, ?) ON CONFLICT (call_id) DO NOTHING",
      values: [callId, toStorableJson(task), now],
      mustChange: true,
    }
    const outcome = await this.#engine.change({ type: "statements", statements: [note, toInsert(this.#person, task)] })
    if (outcome.ok) return task
    const first = await this.outcome(callId)
    if (!first) throw failure("store_unavailable", { problem: `${callId} was neither applied nor noted` })
    return first
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

function toInsert(person: UserId, task: Task): { sql: string; values: unknown[] } {
  const { id, projectId, title, description, status, priority, assignee, dueDate, createdAt } = task
  const about = [id, projectId, title, description, status, priority, assignee, dueDate]
  return {
    sql: `INSERT INTO task (person, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    values: [person, ...about, task.isAiSuggested, task.isApproved, createdAt],
  }
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
