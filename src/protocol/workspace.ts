import { z } from "zod"
import type { CallId, ConversationId, UserId } from "./ids.ts"

export const TaskStatus = z.enum(["todo", "in_progress", "done"])
export const TaskPriority = z.enum(["high", "medium", "low"])
export const TaskOrder = z.enum(["createdAt", "dueDate", "priority", "title"])

const Flag = z.union([z.literal(0), z.literal(1)])
const Milliseconds = z.number().int()

/** A task as every workspace keeps it: times in milliseconds, flags 0 or 1, `assignee` a JSON array as text. */
export const Task = z.object({
  id: z.string(),
  projectId: z.string().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  status: TaskStatus,
  priority: TaskPriority,
  assignee: z.string().nullable(),
  dueDate: Milliseconds.nullable(),
  isAiSuggested: Flag,
  isApproved: Flag,
  createdAt: Milliseconds,
})
export type Task = z.infer<typeof Task>

/** What the one who asks for a task says of it; the workspace itself makes its id and time. */
export const NewTask = Task.omit({ id: true, createdAt: true })
export type NewTask = z.infer<typeof NewTask>

/** Which tasks, and in what order. A key that is not here is an error, null is the same as absent. */
export const TaskFilters = z.strictObject({
  projectId: z.string().nullish(),
  status: TaskStatus.nullish(),
  search: z.string().nullish(),
  orderBy: TaskOrder.nullish(),
})
export type TaskFilters = z.infer<typeof TaskFilters>

/** One person's own data, on the server or on their device; tasks, so far. */
export interface Workspace {
  list(filters: TaskFilters): Promise<Task[]>
  get(id: string): Promise<Task | undefined>
  /** Applies a call once: the same call id again changes nothing and gives back the first one's task. */
  create(data: NewTask, callId: CallId): Promise<Task>
  /** Takes a task out and gives back what it was; undefined where there is none. Once for each call, as above. */
  delete(id: string, callId: CallId): Promise<Task | undefined>
  /** Puts a deleted task back under its old id; undefined where one of that id is there already. Once for each call. */
  restore(task: Task, callId: CallId): Promise<Task | undefined>
  /** The task that a call has made, deleted or put back, if it was ever applied. */
  outcome(callId: CallId): Promise<Task | undefined>
}

/** The call that a workspace is opened for: whose it is, in which conversation, and where that one works. */
export interface Asked {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly callId: CallId
  readonly site: "server" | "device"
  readonly deviceId: string | null
  readonly signal: AbortSignal
}

/** Finds the workspace that a call works on. */
export type OpenWorkspace = (asked: Asked) => Workspace
