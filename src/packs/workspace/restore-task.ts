import { z } from "zod"
import { answer, defineTool, type Tool } from "../../agent/tool.ts"
import type { OpenWorkspace, RowsByTable } from "../../protocol/workspace-port.ts"
import { Task } from "../../protocol/workspace-tables.ts"
import { describeTask } from "./describe-task.ts"

/** Puts a deleted task back as it was, under its old id. Only an undo calls it: nobody else knows what was there. */
export function restoreTask(open: OpenWorkspace): Tool {
  return defineTool({
    name: "restore_task",
    description: "Put a deleted task back as it was.",
    input: z.strictObject({ task: Task, with: z.record(z.string(), z.array(z.unknown())).default({}) }),
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
    async run({ task, with: others }, context) {
      const write = { ...RESTORE, rows: [task], with: others as RowsByTable }
      return restored((await open(context).write(write, context.callId)).after as Task)
    },
    afterCrash: "ask-target",
    async outcome(callId, _input, context) {
      const applied = await open(context).outcome(callId, RESTORE)
      return applied ? restored(applied.after as Task) : "not-applied"
    },
  })
}

const RESTORE = { action: "restore", table: "tasks" } as const

const restored = (task: Task) =>
  answer(`Task put back: ${describeTask(task)}.`, { data: { task }, change: { before: null, after: task } })
