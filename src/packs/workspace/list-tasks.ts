import { z } from "zod"
import type { Phrase } from "../../agent/phrases.ts"
import { answer, defineTool, type Tool } from "../../agent/tool.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type { OpenWorkspace } from "../../protocol/workspace-port.ts"
import { type Task, TaskStatus } from "../../protocol/workspace-tables.ts"
import { describeTask } from "./describe-task.ts"

/** More than this is no answer but a dump; the rest is counted, with what to ask instead. */
const MOST_SHOWN = 100

const orders = { created_at: "createdAt", due_date: "dueDate", priority: "priority", title: "title" } as const

const input = z.strictObject({
  project_id: z.string().nullish().describe("Only tasks of this project"),
  status: TaskStatus.nullish().describe("Only tasks in this state"),
  search: z.string().nullish().describe("Only tasks whose title or description holds these words"),
  order_by: z
    .enum(["created_at", "due_date", "priority", "title"])
    .nullish()
    .describe("created_at unless you say otherwise"),
})

/** Finds a person's tasks. */
export function listTasks(open: OpenWorkspace): Tool {
  return defineTool({
    name: "list_tasks",
    description:
      "List the person's tasks with title, status, priority and id, all of them or those that fit the filters.",
    input,
    effect: "read",
    onSite: "workspace",
    brings: "private",
    afterCrash: "run-again",
    phrases,
    async run({ project_id, status, search, order_by }, context) {
      const filters: DeviceFilters = {
        projectId: project_id,
        status,
        search,
        orderBy: order_by ? orders[order_by] : undefined,
      }
      const tasks = await open(context).select("tasks", filters)
      return answer(toSentences(tasks, filters), { data: { tasks: tasks.slice(0, MOST_SHOWN), total: tasks.length } })
    },
  })
}

function toSentences(tasks: readonly Task[], filters: DeviceFilters): string {
  if (tasks.length === 0) return `No tasks found${inWords(filters)}.`
  const shown = tasks.slice(0, MOST_SHOWN).map((task) => `- ${describeTask(task)}`)
  if (tasks.length > shown.length) {
    shown.push(`There are ${tasks.length - shown.length} more. Ask for fewer with status, search or project_id.`)
  }
  return `Found ${tasks.length} task(s):\n${shown.join("\n")}`
}

function inWords({ projectId, status, search }: DeviceFilters): string {
  const conditions = [
    ...(status ? [` with status ${status}`] : []),
    ...(search ? [` that mention "${search}"`] : []),
    ...(projectId ? [` in project ${projectId}`] : []),
  ]
  return conditions.join("")
}

const states: Record<string, z.infer<typeof TaskStatus>> = {
  open: "todo",
  todo: "todo",
  "to do": "todo",
  "in progress": "in_progress",
  started: "in_progress",
  done: "done",
  finished: "done",
  completed: "done",
}

const STATE = `(?:(?<state>${Object.keys(states).join("|")})\\s+)?`
const stateOf = (state: string | undefined) => (state ? { status: states[state.toLowerCase()] } : {})

const phrases: Phrase[] = [
  {
    pattern: new RegExp(
      `(?:please )?(?:list|show|what are)(?: me)?(?: all)?(?: of)?(?: my| the)? ?${STATE}tasks(?: please)?`,
    ),
    arguments: ({ state }) => stateOf(state),
    example: "list my tasks",
  },
  {
    pattern:
      /(?:which|what) tasks (?:are|do i have)(?: (?<state>open|todo|in progress|started|done|finished|completed))?/,
    arguments: ({ state }) => stateOf(state),
    example: "show open tasks",
  },
  {
    pattern:
      /(?:find|search(?: for)?|list|show)(?: me)?(?: my| the| all)? tasks (?:about|with|mentioning|for|containing) (?<words>.+)/,
    arguments: ({ words }) => ({ search: words }),
    example: "find tasks about milk",
  },
]
