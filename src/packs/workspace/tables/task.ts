import { z } from "zod"
import { TaskPriority, TaskStatus } from "../../../protocol/workspace-tables.ts"
import { dayAt } from "../../../workspace/days.ts"
import { dueWithin } from "./due-periods.ts"
import { choice, date, flag, name, people, reference, text } from "./kinds.ts"
import type { ColumnField, Filter, TableSpec } from "./table.ts"
import {
  createTaskPhrases,
  deleteTaskPhrases,
  dueTodayPhrases,
  listTasksPhrases,
  updateTaskPhrases,
} from "./task-phrases.ts"
import { lazily } from "../../../protocol/lazily.ts"

export const WHEN =
  "2027-01-31, 2027-01-31T17:00, or words as the person said them: tomorrow, next friday, in 3 days, end of month"

/** Whether it was the assistant's idea, and whether the person agreed: what was proposed and applied is both. */
export const suggestionFields: readonly ColumnField[] = [
  {
    ...{ argument: "is_ai_suggested", column: "isAiSuggested", kind: flag, create: "optional" },
    about: "False if the person dictated it word for word",
    unsaid: "true",
  },
  { argument: "is_approved", column: "isApproved", kind: flag, create: "optional" },
]

export const inProject: Filter = {
  ...{ argument: "project_id", key: "projectId", schema: lazily(() => z.string().max(1000)), refers: "projects" },
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
    { argument: "description", column: "description", kind: text(100_000, "orNone"), create: "optional" },
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
      about: "Names of people; an empty list for nobody",
    },
    {
      ...{ argument: "due_date", column: "dueDate", kind: date("orNone"), create: "optional", label: "due" },
      about: `${WHEN}; "none" takes it away`,
    },
    {
      ...{ argument: "project_id", column: "projectId", kind: reference("projects", "orNone") },
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
          ...{ argument: "status", key: "status", schema: TaskStatus, about: "Only tasks in this state" },
          words: (status) => ` with status ${status}`,
        },
        {
          ...{ argument: "priority", schema: TaskPriority, about: "Only tasks of this priority" },
          words: (priority) => ` with ${priority} priority`,
          narrows: (said) => ({ asked: {}, keeps: ({ priority }) => priority === said }),
        },
        dueWithin,
        {
          ...{ argument: "search", key: "search", schema: lazily(() => z.string().max(1000)) },
          about: "Only tasks whose title or description holds these words",
          words: (search) => ` that mention "${search}"`,
        },
        {
          ...{ argument: "order_by", key: "orderBy", about: "created_at where nothing is said" },
          schema: lazily(() => z.enum(["created_at", "due_date", "priority", "title"])),
          means: { created_at: "createdAt", due_date: "dueDate", priority: "priority", title: "title" },
        },
      ],
      phrases: listTasksPhrases,
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
      phrases: dueTodayPhrases,
    },
  ],
  create: {
    ...{ name: "create_task", verb: "create", done: "created", phrases: createTaskPhrases },
    description: "Propose a new task in the person's workspace.",
  },
  update: {
    name: "update_task",
    description: "Propose a change of one task: only the arguments you give are changed. Completing it is status done.",
    phrases: updateTaskPhrases,
  },
  delete: {
    name: "delete_task",
    description: "Propose to delete one task, with its comments.",
    phrases: deleteTaskPhrases,
  },
  restore: "restore_task",
  profile: {
    name: "task",
    description:
      "Tasks and to-dos: finding, counting, adding, changing, completing and deleting them, and their comments.",
    examples: [
      ...["list my tasks", "what is due today?", "how many todo tasks do I have?", "remind me to water the plants"],
      ...["create a task called Buy milk", "mark Buy milk as done", "delete the task Buy milk"],
      ...["set the priority of the report to high", "comment on Buy milk: two litres", "what should I work on next?"],
    ],
  },
}
