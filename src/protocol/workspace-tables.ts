import { z } from "zod"
import { DayOrMoment, CalendarMoment } from "./time/day.ts"
import { lazily } from "./lazily.ts"

/**
 * The six tables of a workspace, as both ends keep and ask for them (WORK-01): whoever stores a workspace builds on these
 * lines, so a column, a filter or a rule is said once.
 */

const Flag = lazily(() => z.union([z.literal(0), z.literal(1)]))

export const TaskStatus = lazily(() => z.enum(["todo", "in_progress", "done"]))
export const TaskPriority = lazily(() => z.enum(["high", "medium", "low"]))
const taskOrders = ["createdAt", "dueDate", "priority", "title"] as const
export const TaskOrder = lazily(() => z.enum(taskOrders))

/**
 * A task as every workspace keeps it: times in milliseconds, flags 0 or 1, `assignee` a JSON array as text. `dueDate` is a
 * day (`2026-11-20`) where a whole day is meant.
 */
export const Task = lazily(() =>
  z.object({
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
  }),
)
export type Task = z.infer<typeof Task>

/** What the one who asks for a task says of it; the workspace itself makes its id and time. */
export const NewTask = lazily(() => Task.omit({ id: true, createdAt: true }))
export type NewTask = z.infer<typeof NewTask>

/** A project as every workspace keeps it. */
export const Project = lazily(() =>
  z.object({
    id: z.string(),
    clientId: z.string().nullable(),
    name: z.string(),
    status: z.enum(["active", "archived"]),
    aiSummary: z.string().nullable(),
    createdAt: CalendarMoment,
  }),
)
export type Project = z.infer<typeof Project>

export const Checkpoint = lazily(() =>
  z.object({
    id: z.string(),
    projectId: z.string(),
    title: z.string(),
    date: DayOrMoment,
    isAiSuggested: Flag,
    isApproved: Flag,
    createdAt: CalendarMoment,
  }),
)
export type Checkpoint = z.infer<typeof Checkpoint>

/** `content` is Markdown. */
export const Note = lazily(() =>
  z.object({
    id: z.string(),
    projectId: z.string().nullable(),
    title: z.string(),
    content: z.string(),
    createdAt: CalendarMoment,
    updatedAt: CalendarMoment,
  }),
)
export type Note = z.infer<typeof Note>

export const TaskComment = lazily(() =>
  z.object({
    id: z.string(),
    taskId: z.string(),
    author: z.string(),
    content: z.string(),
    createdAt: CalendarMoment,
  }),
)
export type TaskComment = z.infer<typeof TaskComment>

/** Whom projects are for; `parentId` is a client that this one is a part of. */
export const WorkspaceClient = lazily(() =>
  z.object({
    id: z.string(),
    parentId: z.string().nullable(),
    name: z.string(),
    industry: z.string().nullable(),
    createdAt: CalendarMoment,
  }),
)
export type WorkspaceClient = z.infer<typeof WorkspaceClient>

export type TableName = "tasks" | "projects" | "checkpoints" | "notes" | "taskComments" | "clients"
type Column = string

/** What a column names a row of, and what becomes of this row when that one is deleted. */
export interface Reference {
  readonly table: TableName
  /** `goes`: it is deleted too, and comes back with an undo. `refuses`: the other cannot go while this one is there. */
  readonly whenGone: "goes" | "refuses"
}

export interface TableSpecification {
  /** What a sentence calls one row. */
  readonly noun: string
  /** What its ids begin with. */
  readonly prefix: "task" | "proj" | "chk" | "note" | "cmt" | "cli"
  readonly row: z.ZodObject
  /** What a new row holds where nothing is said. What is neither here nor in `made` has to be said. */
  readonly defaults: Readonly<Record<Column, string | number | null>>
  /** Columns the workspace fills by itself; nobody else may. */
  readonly made: readonly Column[]
  readonly references: Readonly<Record<Column, Reference>>
  /** Filters that name a value of the column of the same name. */
  readonly equals: readonly Column[]
  /** Columns that may hold a day, and where a database keeps it, beside the moment for programs that know only moments. */
  readonly days?: Readonly<Record<Column, Column>>
  /** `dueDateFrom` and `dueDateTo` limit this column; both are included. */
  readonly due?: Column
  /** Left out unless `includeArchived` or `status` asks for it. */
  readonly hides?: { readonly column: Column; readonly value: string }
  /** Where `search` looks. */
  readonly searched: readonly Column[]
  /** What `orderBy` may name; rows that are alike, and those of no order, come as they were made. */
  readonly orders: readonly Column[]
}

const inProject = { projectId: { table: "projects", whenGone: "goes" } } as const
const suggestion = { isAiSuggested: 0, isApproved: 1 } as const

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
    // A client's projects hold the work of months: no single yes takes them along.
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

export const tableNames = Object.keys(workspaceTables) as TableName[]
