import type { Task } from "../../../core/protocol/index.ts"
import { type Key, t } from "../strings/strings.ts"
import { startOf } from "./due.tsx"

export const STATUSES = [
  ["todo", "workspace.statusTodo"],
  ["in_progress", "workspace.statusInProgress"],
  ["done", "workspace.statusDone"],
] as const satisfies readonly (readonly [Task["status"], Key])[]

export const PRIORITIES = [
  ["high", "workspace.priorityHigh"],
  ["medium", "workspace.priorityMedium"],
  ["low", "workspace.priorityLow"],
] as const satisfies readonly (readonly [Task["priority"], Key])[]

/** The address that opens a task. */
export const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`

/** The choices with their names in the chosen language. */
export const choiceLabels = (choices: readonly (readonly [value: string, name: Key])[]) =>
  choices.map(([value, name]) => [value, t(name)] as const)

export function statusName(status: Task["status"]): string {
  const name = STATUSES.find(([value]) => value === status)?.[1]
  return name === undefined ? status : t(name)
}

/** The names of the assignees. They are stored as a JSON array in a text; any other text is one name. */
export function assigneesOf({ assignee }: Pick<Task, "assignee">): string[] {
  if (!assignee) return []
  try {
    const names: unknown = JSON.parse(assignee)
    return Array.isArray(names) ? names.map(String) : [assignee]
  } catch {
    return [assignee]
  }
}

export function toAssignee(names: string): string | null {
  const list = names.split(",").map((name) => name.trim())
  const given = list.filter((name) => name !== "")
  return given.length === 0 ? null : JSON.stringify(given)
}

const RANKS = { high: 0, medium: 1, low: 2 }

/** Sorts by due date, then by priority, then by age. */
export function byUrgency(a: Task, b: Task): number {
  const [first, second] = [a, b].map(({ dueDate }) => (dueDate === null ? Number.POSITIVE_INFINITY : startOf(dueDate)))
  if (first !== second) return (first ?? 0) - (second ?? 0)
  return RANKS[a.priority] - RANKS[b.priority] || a.createdAt - b.createdAt
}
