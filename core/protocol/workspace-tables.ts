import { z } from "zod"
import { DayOrMoment, CalendarMoment } from "../shared/time/day.ts"

/**
 * The six tables of a workspace. Servers and devices use this specification, so each column, filter and rule
 * is defined once.
 */

const Flag = z.union([z.literal(0), z.literal(1)])

/** The progress of a task in the workspace. */
export const TaskStatus = z.enum(["todo", "in_progress", "done"])
/** The priority of a task in the workspace. */
export const TaskPriority = z.enum(["high", "medium", "low"])
const taskOrders = ["createdAt", "dueDate", "priority", "title"] as const
/** The columns by which a list of tasks can be sorted. */
export const TaskOrder = z.enum(taskOrders)

/**
 * A task. Times are in milliseconds, flags 0 or 1, and `assignee` is a JSON array as text. `dueDate` is a day
 * (`2026-11-20`) if it has no time.
 */
export const Task = z.object({
  id: z.string(),
  projectId: z.string().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  status: TaskStatus,
  priority: TaskPriority,
  assignee: z.string().nullable(),
  dueDate: DayOrMoment.nullable(),
  isAiSuggested: Flag,
  isApproved: Flag,
  createdAt: CalendarMoment,
})
export type Task = z.infer<typeof Task>

/** The fields of a new task. The workspace sets its id and creation time. */
export const NewTask = Task.omit({ id: true, createdAt: true })
export type NewTask = z.infer<typeof NewTask>

/** A project in the workspace. Tasks, checkpoints and notes can belong to it. */
export const Project = z.object({
  id: z.string(),
  clientId: z.string().nullable(),
  name: z.string(),
  status: z.enum(["active", "archived"]),
  aiSummary: z.string().nullable(),
  createdAt: CalendarMoment,
})
export type Project = z.infer<typeof Project>

/** A dated milestone of a project. `isAiSuggested` and `isApproved` are flags, 0 or 1. */
export const Checkpoint = z.object({
  id: z.string(),
  projectId: z.string(),
  title: z.string(),
  date: DayOrMoment,
  isAiSuggested: Flag,
  isApproved: Flag,
  createdAt: CalendarMoment,
})
export type Checkpoint = z.infer<typeof Checkpoint>

/** A note. `content` is Markdown. */
export const Note = z.object({
  id: z.string(),
  projectId: z.string().nullable(),
  title: z.string(),
  content: z.string(),
  createdAt: CalendarMoment,
  updatedAt: CalendarMoment,
})
export type Note = z.infer<typeof Note>

/** A comment on a task in the workspace. */
export const TaskComment = z.object({
  id: z.string(),
  taskId: z.string(),
  author: z.string(),
  content: z.string(),
  createdAt: CalendarMoment,
})
export type TaskComment = z.infer<typeof TaskComment>

/** A client that projects belong to. `parentId` is the client that this one is part of. */
export const WorkspaceClient = z.object({
  id: z.string(),
  parentId: z.string().nullable(),
  name: z.string(),
  industry: z.string().nullable(),
  createdAt: CalendarMoment,
})
export type WorkspaceClient = z.infer<typeof WorkspaceClient>

/** The name of a workspace table. */
export type TableName = "tasks" | "projects" | "checkpoints" | "notes" | "taskComments" | "clients"
type Column = string

/** A reference to another table, and what happens when the referenced row is deleted. */
export interface Reference {
  readonly table: TableName
  /** `goes`: this row is deleted too, and restored by an undo. `refuses`: the referenced row cannot be deleted. */
  readonly whenGone: "goes" | "refuses"
}

/** The specification of a workspace table: its columns, their defaults, and what its rows refer to. */
export interface TableSpecification {
  /** The noun for one row, for sentences. */
  readonly noun: string
  /** The prefix of its ids. */
  readonly prefix: "task" | "proj" | "chk" | "note" | "cmt" | "cli"
  readonly row: z.ZodObject
  /** Default values of a new row. Columns that are neither here nor in `made` are required. */
  readonly defaults: Readonly<Record<Column, string | number | null>>
  /** Columns that only the workspace sets. */
  readonly made: readonly Column[]
  readonly references: Readonly<Record<Column, Reference>>
  /** Columns that can be filtered by value. */
  readonly equals: readonly Column[]
  /**
   * Columns that can hold a day, and the column that stores it, next to the timestamp for programs that support only
   * timestamps.
   */
  readonly days?: Readonly<Record<Column, Column>>
  /** The column that `dueDateFrom` and `dueDateTo` filter; both are inclusive. */
  readonly due?: Column
  /** Rows with this value are hidden, unless `includeArchived` or `status` selects them. */
  readonly hides?: { readonly column: Column; readonly value: string }
  /** The columns that `search` reads. */
  readonly searched: readonly Column[]
  /** The columns that `orderBy` accepts. Otherwise, and for equal values, rows are in order of creation. */
  readonly orders: readonly Column[]
}

const inProject = { projectId: { table: "projects", whenGone: "goes" } } as const
const suggestion = { isAiSuggested: 0, isApproved: 1 } as const

/** The specification of each workspace table. */
export const workspaceTables: Readonly<Record<TableName, TableSpecification>> = {
  tasks: {
    noun: "task",
    prefix: "task",
    row: Task,
    defaults: {
      projectId: null,
      description: null,
      status: "todo",
      priority: "medium",
      assignee: null,
      dueDate: null,
      ...suggestion,
    },
    made: ["id", "createdAt"],
    references: inProject,
    equals: ["projectId", "status"],
    days: { dueDate: "dueDay" },
    due: "dueDate",
    searched: ["title", "description"],
    orders: taskOrders,
  },
  projects: {
    noun: "project",
    prefix: "proj",
    row: Project,
    defaults: { clientId: null, status: "active", aiSummary: null },
    made: ["id", "createdAt"],
    // A client's projects contain the work of months, so that one approval must not delete them.
    references: { clientId: { table: "clients", whenGone: "refuses" } },
    equals: ["clientId", "status"],
    hides: { column: "status", value: "archived" },
    searched: ["name", "aiSummary"],
    orders: ["createdAt", "name"],
  },
  checkpoints: {
    noun: "checkpoint",
    prefix: "chk",
    row: Checkpoint,
    defaults: suggestion,
    made: ["id", "createdAt"],
    references: inProject,
    equals: ["projectId"],
    days: { date: "day" },
    searched: ["title"],
    orders: ["createdAt", "date", "title"],
  },
  notes: {
    noun: "note",
    prefix: "note",
    row: Note,
    defaults: { projectId: null, content: "" },
    made: ["id", "createdAt", "updatedAt"],
    references: inProject,
    equals: ["projectId"],
    searched: ["title", "content"],
    orders: ["createdAt", "updatedAt", "title"],
  },
  taskComments: {
    noun: "comment",
    prefix: "cmt",
    row: TaskComment,
    defaults: {},
    made: ["id", "createdAt"],
    references: { taskId: { table: "tasks", whenGone: "goes" } },
    equals: ["taskId"],
    searched: ["content", "author"],
    orders: ["createdAt"],
  },
  clients: {
    noun: "client",
    prefix: "cli",
    row: WorkspaceClient,
    defaults: { parentId: null, industry: null },
    made: ["id", "createdAt"],
    references: { parentId: { table: "clients", whenGone: "refuses" } },
    equals: [],
    searched: ["name", "industry"],
    orders: ["createdAt", "name"],
  },
}

/** The names of all workspace tables. */
export const tableNames = Object.keys(workspaceTables) as TableName[]
