import type { NewTask, Task } from "../../protocol/workspace-tables.ts"

/** One line about a task that exists: everything a person or a model needs to speak of it. */
export function describeTask(task: Task): string {
  return `${task.title} (${[...traits(task), `id: ${task.id}`].join(", ")})`
}

/** The same about one that does not exist yet. */
export function describeNewTask(task: NewTask): string {
  return `"${task.title}" (${traits(task).join(", ")})`
}

function traits({ status, priority, dueDate, assignee, projectId }: NewTask): string[] {
  return [
    `status: ${status}`,
    `priority: ${priority}`,
    ...(dueDate === null ? [] : [`due: ${toDay(dueDate)}`]),
    ...(assignee === null ? [] : [`assigned to: ${(JSON.parse(assignee) as string[]).join(", ")}`]),
    ...(projectId === null ? [] : [`project: ${projectId}`]),
  ]
}

/** A date alone where the time is midnight. */
function toDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("T00:00:00.000Z", "")
}
