import { z } from "zod"
import type { Phrase } from "../../agent/phrases.ts"
import { answer, defineTool, type Tool } from "../../agent/tool.ts"
import type { OpenWorkspace } from "../../protocol/workspace-port.ts"
import { type NewTask, type Task, TaskPriority, TaskStatus } from "../../protocol/workspace-tables.ts"
import { describeNewTask, describeTask } from "./describe-task.ts"
import { DueDate, toMilliseconds } from "./due-date.ts"

const input = z.strictObject({
  title: z.string().trim().min(1).max(500),
  description: z.string().max(20_000).nullish(),
  status: TaskStatus.nullish().describe("todo unless you say otherwise"),
  priority: TaskPriority.nullish().describe("medium unless you say otherwise"),
  assignees: z.array(z.string().trim().min(1).max(200)).max(50).nullish().describe("Names of people"),
  due_date: DueDate.nullish().describe("A date like 2027-01-31, a time like 2027-01-31T17:00:00Z, or milliseconds"),
  project_id: z.string().max(200).nullish(),
  is_ai_suggested: z.boolean().nullish().describe("True if it was your idea and not the person's"),
  is_approved: z.boolean().nullish(),
})

/** Adds a task to a person's workspace, once for each call. */
export function createTask(open: OpenWorkspace): Tool {
  return defineTool({
    name: "create_task",
    description: "Create one task in the person's workspace.",
    input,
    effect: "write",
    onSite: "workspace",
    inverse: (_task, { data }) => ({ tool: "delete_task", input: { task_id: (data as { task: Task }).task.id } }),
    phrases,
    preview(task) {
      const after = toNewTask(task)
      return { summary: `Create task ${describeNewTask(after)}`, action: "safe_create", diff: { before: null, after } }
    },
    async run(task, context) {
      const write = { ...INSERT, data: toNewTask(task) }
      return created((await open(context).write(write, context.callId)).after as Task)
    },
    afterCrash: "ask-target",
    async outcome(callId, _task, context) {
      const applied = await open(context).outcome(callId, INSERT)
      return applied ? created(applied.after as Task) : "not-applied"
    },
  })
}

const INSERT = { action: "insert", table: "tasks" } as const

const created = (task: Task) =>
  answer(`Task created: ${describeTask(task)}.`, { data: { task }, change: { before: null, after: task } })

/** The one place where lists, booleans and dates of a call become what workspaces keep. */
function toNewTask(task: z.infer<typeof input>): NewTask {
  const { title, description, status, priority, assignees, due_date, project_id, is_ai_suggested, is_approved } = task
  return {
    projectId: project_id ?? null,
    title,
    description: description ?? null,
    status: status ?? "todo",
    priority: priority ?? "medium",
    assignee: assignees && assignees.length > 0 ? JSON.stringify(assignees) : null,
    dueDate: due_date === null || due_date === undefined ? null : toMilliseconds(due_date),
    isAiSuggested: is_ai_suggested ? 1 : 0,
    isApproved: is_approved === false ? 0 : 1,
  }
}

const PRIORITY =
  "(?:,? (?:with|at) (?<priority>high|medium|low) priority|,? \\((?<short>high|medium|low)(?: priority)?\\))?"

const toInput = ({ title = "", priority, short }: Readonly<Record<string, string | undefined>>) => {
  const level = (priority ?? short)?.toLowerCase()
  return { title: title.replace(/^["'“](.*)["'”]$/, "$1"), ...(level ? { priority: level } : {}) }
}

const phrases: Phrase[] = [
  {
    pattern: new RegExp(
      `(?:please )?(?:add|create|make|new)(?: me)?(?: a| another)?(?: new)? task(?:: ?| called | named | to | - | )(?<title>.+?)${PRIORITY}`,
    ),
    arguments: toInput,
    example: "add a task: buy milk",
  },
  {
    pattern: new RegExp(`(?:please )?(?:add|put) (?<title>.+?) (?:to|on) my (?:tasks|task list|list)${PRIORITY}`),
    arguments: toInput,
    example: "create a task called Call Ada with high priority",
  },
  {
    pattern: new RegExp(`(?:please )?remind me to (?<title>.+?)${PRIORITY}`),
    arguments: toInput,
    example: "remind me to water the plants",
  },
]
