import { z } from "zod"
import { answer, defineTool, failed, type Tool } from "../../agent/tool.ts"
import { type OpenWorkspace, Task } from "../../protocol/workspace.ts"
import { describeTask } from "./describe-task.ts"

/** Puts a deleted task back as it was, under its old id. Only an undo calls it: nobody else knows what was there. */
export function restoreTask(open: OpenWorkspace): Tool {
  return defineTool({
    name: "restore_task",
    description: "Put a deleted task back as it was.",
    input: z.strictObject({ task: Task }),
    effect: "write",
    onSite: "workspace",
    brings: "private",
    onlyUndoes: true,
    inverse: ({ task }) => ({ tool: "delete_task", input: { task_id: task.id } }),
    preview: ({ task }) => ({
      summary: `Put back task ${describeTask(task)}`,
      action: "safe_create",
      diff: { before: null, after: task },
    }),
    async run({ task }, context) {
      const back = await open(context).restore(task, context.callId)
      return back ? restored(back) : failed(`There is a task ${task.id} already.`)
    },
    afterCrash: "ask-target",
    async outcome(callId, _input, context) {
      const task = await open(context).outcome(callId)
      return task ? restored(task) : "not-applied"
    },
  })
}

const restored = (task: Task) =>
  answer(`Task put back: ${describeTask(task)}.`, { data: { task }, change: { before: null, after: task } })
