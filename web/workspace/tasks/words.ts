import type { Task } from "../../../src/protocol/index.ts"
import { startOf } from "../due.ts"

export const STATUSES = [
  ["todo", "To do"],
  ["in_progress", "In progress"],
  ["done", "Done"],
] as const satisfies readonly (readonly [Task["status"], string])[]

export const PRIORITIES = [
  ["high", "High"],
  ["medium", "Medium"],
  ["low", "Low"],
] as const satisfies readonly (readonly [Task["priority"], string])[]

export const statusName = (status: Task["status"]): string =>
  STATUSES.find(([value]) => value === status)?.[1] ?? status

/** Who does it. It is kept as a JSON array in a text; what is none is one name. */
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

/** What is urgent first: by date, then by priority, then as they were made. */
export function byUrgency(a: Task, b: Task): number {
  const [first, second] = [a, b].map(({ dueDate }) => (dueDate === null ? Number.POSITIVE_INFINITY : startOf(dueDate)))
  if (first !== second) return (first ?? 0) - (second ?? 0)
  return RANKS[a.priority] - RANKS[b.priority] || a.createdAt - b.createdAt
}
