import { z } from "zod"
import { dayAt, TaskPriority, TaskStatus } from "../../../core/pack.ts"
import { dueWithin, isOpenTask } from "./due-periods.ts"
import { choice, dateColumn, flag, name, people, reference, text } from "./kinds.ts"
import type { ColumnField, Filter, TableSpec } from "./table.ts"

export const WHEN =
  "2027-01-31, 2027-01-31T17:00, or words as the person said them: tomorrow, next friday, in 3 days, end of month"

/** Marks rows that the assistant suggested and that the person approved. An applied proposal is both. */
export const suggestionFields: readonly ColumnField[] = [
  {
    ...{ argument: "is_ai_suggested", column: "isAiSuggested", kind: flag, create: "optional" },
    about: "False if the person dictated it word for word",
    unsaid: "true",
  },
  { argument: "is_approved", column: "isApproved", kind: flag, create: "optional" },
]

export const inProject: Filter = {
  ...{ argument: "project_id", key: "projectId", schema: z.string().max(1000), refers: "projects" },
  about: "Only those of this project, by its id or exact name",
  words: (project) => ` in project ${project}`,
}

export const taskTable: TableSpec = {
  name: "tasks",
  plural: "tasks",
  argument: "task_id",
  unlisted: ["description"],
  fields: [
    { argument: "title", column: "title", kind: name(), create: "required" },
    { argument: "description", column: "description", kind: text(100_000, { optional: true }), create: "optional" },
    {
      ...{ argument: "status", column: "status", kind: choice(TaskStatus), create: "optional", label: "status" },
      unsaid: "todo",
    },
    {
      ...{
        argument: "priority",
        column: "priority",
        kind: choice(TaskPriority),
        create: "optional",
        label: "priority",
      },
      unsaid: "medium",
    },
    {
      ...{ argument: "assignees", column: "assignee", kind: people, create: "optional", label: "assigned to" },
      about: "Names of people; an empty list for no one",
    },
    {
      ...{
        argument: "due_date",
        column: "dueDate",
        kind: dateColumn({ optional: true }),
        create: "optional",
        label: "due",
      },
      about: `${WHEN}; "none" takes it away`,
    },
    {
      ...{ argument: "project_id", column: "projectId", kind: reference("projects", { optional: true }) },
      ...{ create: "optional", label: "project", about: 'A project\'s id or exact name; "none" for no project' },
    },
    ...suggestionFields,
  ],
  lists: [
    {
      name: "list_tasks",
      description:
        "List the person's tasks with title, status, priority and id, all of them or those that fit the filters. Counts them too.",
      filters: [
        inProject,
        {
          ...{ argument: "status", schema: z.enum([...TaskStatus.options, "open"]) },
          about: "Only tasks in this state; open: all that are not done",
          words: (status) => (status === "open" ? " that are open" : ` with status ${status}`),
          narrows: (value) => (value === "open" ? { asked: {}, keeps: isOpenTask } : { asked: { status: value } }),
        },
        {
          ...{ argument: "priority", schema: TaskPriority, about: "Only tasks of this priority" },
          words: (priority) => ` with ${priority} priority`,
          narrows: (value) => ({ asked: {}, keeps: ({ priority }) => priority === value }),
        },
        dueWithin,
        {
          ...{ argument: "search", key: "search", schema: z.string().max(1000) },
          about: "Only tasks whose title or description holds these words",
          words: (search) => ` that mention "${search}"`,
        },
        {
          ...{ argument: "order_by", key: "orderBy", about: "default: created_at" },
          schema: z.enum(["created_at", "due_date", "priority", "title"]),
          means: { created_at: "createdAt", due_date: "dueDate", priority: "priority", title: "title" },
        },
      ],
      examples: ["list my tasks", "how many todo tasks do I have", "which tasks are done", "find tasks about milk"],
    },
    {
      name: "list_tasks_due_today",
      description: "List the tasks that are due today, in the person's own time zone.",
      filters: [],
      always: ({ now, timeZone }) => {
        const today = dayAt(now, timeZone)
        return { dueDateFrom: today, dueDateTo: today, orderBy: "dueDate" }
      },
      words: " due today",
      examples: ["show tasks due today", "what is due today", "what do I have to do today"],
    },
  ],
  create: {
    ...{ name: "create_task", verb: "create", done: "created" },
    examples: [
      "create a task called Call Ada with high priority due tomorrow",
      "add bread to my tasks",
      "remind me to water the plants",
    ],
    description: "Propose a new task in the person's workspace.",
  },
  update: {
    name: "update_task",
    description: "Propose a change of one task: only the arguments you pass are changed. Completing it is status done.",
    examples: [
      "mark Buy milk as done",
      "complete Buy milk",
      "start task Buy milk",
      "reopen Buy milk",
      "rename task Buy milk to Buy oat milk",
      "set the priority of Buy milk to high",
      "move the due date of Buy milk to next friday",
      "postpone task Buy milk to tomorrow",
      "assign Buy milk to Ada",
    ],
  },
  delete: {
    name: "delete_task",
    description: "Propose to delete one task, with its comments.",
    examples: ["delete task Buy milk"],
  },
  restore: "restore_task",
  profile: {
    name: "task",
    description:
      "Tasks and to-dos: finding, counting, adding, changing, completing and deleting them, and their comments.",
  },
}
