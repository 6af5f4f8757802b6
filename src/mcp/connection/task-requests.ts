import type { Client } from "@modelcontextprotocol/client"
import { z } from "zod"
import { lazily } from "../../protocol/lazily.ts"

/** How a task stands, as its server tells. */
export interface TaskState {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  /** After how many milliseconds it may be forgotten; null: never. */
  readonly ttl: number | null
  readonly pollInterval?: number | undefined
  /** How far it is, in its server's words. */
  readonly statusMessage?: string | undefined
}

interface Asking {
  readonly signal?: AbortSignal
  readonly timeoutMs: number
}

const Task = lazily(() =>
  z.object({
    taskId: z.string().min(1).max(500),
    status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
    ttl: z.number().nullable().default(null),
    pollInterval: z.number().optional(),
    statusMessage: z.string().optional(),
  }),
)
/** Some answer such a call at once, with its result. */
const Started = lazily(() => z.union([z.object({ task: Task }), z.looseObject({ content: z.array(z.unknown()) })]))
const Anything = lazily(() => z.looseObject({}))

/**
 * The requests of the revision 2025-11-25 for calls that are tasks. The library knows their words and has no functions for
 * them, so that each is a request with a schema of ours. In the newer revision tasks are an extension, whose answer to a call
 * the library refuses.
 */
export class TaskRequests {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Calls a tool: its task, or its result where it was at once there. */
  async start(
    { tool, input, ttlMs }: { readonly tool: string; readonly input: object; readonly ttlMs: number },
    asking: Asking,
  ): Promise<{ readonly task: TaskState } | { readonly result: unknown }> {
    const params = { name: tool, arguments: { ...input }, task: { ttl: ttlMs } }
    const started = await this.#client.request({ method: "tools/call", params }, Started, toOptions(asking))
    return "task" in started ? { task: started.task as TaskState } : { result: started }
  }

  state(taskId: string, asking: Asking): Promise<TaskState> {
    return this.#client.request({ method: "tasks/get", params: { taskId } }, Task, toOptions(asking))
  }

  /** The result of the call. The server answers when there is one, and asks before what it needs to know for it. */
  result(taskId: string, asking: Asking): Promise<unknown> {
    return this.#client.request({ method: "tasks/result", params: { taskId } }, Anything, toOptions(asking))
  }

  cancel(taskId: string, asking: Asking): Promise<unknown> {
    return this.#client.request({ method: "tasks/cancel", params: { taskId } }, Anything, toOptions(asking))
  }
}

const toOptions = ({ signal, timeoutMs }: Asking) => ({ timeout: timeoutMs, ...(signal ? { signal } : {}) })
