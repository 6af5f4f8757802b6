import type { Task } from "../../../src/protocol/index.ts"
import { attempt } from "../../parts/explain.ts"
import { toast } from "../../state/toasts.ts"
import { changeRow } from "../rows/edit-row.ts"

/** Gives a task another status, only while it has the one that was seen. */
export async function moveTask(task: Task, status: Task["status"]): Promise<boolean> {
  if (status === task.status) return false
  let isMoved = false
  await attempt(async () => {
    const changed = await changeRow("tasks", task.id, { updates: { status }, seen: { status: task.status } })
    isMoved = changed.is === "done"
    if (changed.is === "stale") toast("It was moved meanwhile. You see where it is now.", "bad")
    if (changed.is === "gone") toast("This task was deleted meanwhile.", "bad")
  })
  return isMoved
}
