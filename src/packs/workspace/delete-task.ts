import { createHash } from "node:crypto"
import { z } from "zod"
import type { Phrase } from "../../agent/phrases.ts"
import { answer, defineTool, type Tool } from "../../agent/tool.ts"
import type { Applied, OpenWorkspace, Workspace } from "../../protocol/workspace-port.ts"
import type { Task } from "../../protocol/workspace-tables.ts"
import { describeTask } from "./describe-task.ts"

const input = z.strictObject({
  task_id: z.string().trim().min(1).max(500).describe("The task's id as list_tasks gives it, or its exact title"),
})

/** Takes a task out of a person's workspace, once for each call. What went can be put back. */
export function deleteTask(open: OpenWorkspace): Tool {
  return defineTool({
    name: "delete_task",
    description: "Delete one task from the person's workspace.",
    input,
    effect: "write",
    onSite: "workspace",
    brings: "private",
    inverse: (_input, { data }) => ({ tool: "restore_task", input: data as { task: Task; with: object } }),
    phrases,
    async preview({ task_id }, context) {
      const task = await findTask(open(context), task_id)
      return {
        summary: `Delete task ${describeTask(task)}`,
        action: "destructive_delete",
        diff: { before: task, after: null },
        target: task.id,
        revision: createHash("sha256").update(JSON.stringify(task)).digest("base64url"),
      }
    },
    async run({ task_id }, context) {
      const workspace = open(context)
      const { id } = await findTask(workspace, task_id)
      return deleted(await workspace.write({ ...DELETE, id }, context.callId))
    },
    afterCrash: "ask-target",
    async outcome(callId, _input, context) {
      const applied = await open(context).outcome(callId, DELETE)
      return applied ? deleted(applied) : "not-applied"
    },
  })
}

const DELETE = { action: "delete", table: "tasks" } as const

function deleted({ before, with: others }: Applied) {
  const task = before as Task
  const change = { before: task, after: null }
  return answer(`Task deleted: ${describeTask(task)}.`, { data: { task, with: others }, change })
}

/** By id, or by a title that names one task and no other. */
async function findTask(workspace: Workspace, name: string): Promise<Task> {
  const task = await workspace.get("tasks", name)
  if (task) return task
  const sameTitle = (other: Task) => other.title.trim().toLowerCase() === name.toLowerCase()
  const [only, ...others] = (await workspace.select("tasks", { search: name })).filter(sameTitle)
  if (!only) throw new Error(`there is no task "${name}"; list_tasks shows those there are`)
  if (others.length === 0) return only
  const ids = [only, ...others].map(({ id }) => id).join(", ")
  throw new Error(`several tasks are called "${name}"; say which by its id: ${ids}`)
}

const phrases: Phrase[] = [
  {
    pattern: /(?:please )?(?:delete|remove)(?: the| my)? task(?:: ?| called | named | )["'“]?(?<task>.+?)["'”]?/,
    arguments: ({ task }) => ({ task_id: task }),
    example: "delete task buy milk",
  },
]
