import { AsyncLocalStorage } from "node:async_hooks"
import type { Client } from "@modelcontextprotocol/client"
import { z } from "zod"

/** The answer to a server's question. `cancel`: there was no answer. */
export interface ServerQuestionAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Record<string, string | number | boolean | string[]>
}

/** The question cannot be shown, so the person was not asked. The server gets an error with the reason. */
export interface RefusedQuestion {
  readonly unaskable: string
}

/** A call during which a server may ask questions. */
export interface ElicitingCall {
  readonly conversation: string
  /** Asks the person of the call. */
  ask(question: unknown): Promise<ServerQuestionAnswer | RefusedQuestion>
}

/**
 * Finds the call that a server's question belongs to. A question on a call's stream belongs to that call; any other belongs
 * to the newest active call, if all active calls are of one conversation. Otherwise it is cancelled.
 */
export class ElicitingCalls {
  readonly #streams = new AsyncLocalStorage<ElicitingCall>()
  readonly #atWork = new Set<ElicitingCall>()

  async during<T>(asking: ElicitingCall, work: () => Promise<T>): Promise<T> {
    this.#atWork.add(asking)
    try {
      return await this.#streams.run(asking, work)
    } finally {
      this.#atWork.delete(asking)
    }
  }

  async answer(question: unknown): Promise<ServerQuestionAnswer | RefusedQuestion> {
    const here = this.#streams.getStore()
    const asking = here && this.#atWork.has(here) ? here : this.#newest()
    return asking ? asking.ask(question) : { action: "cancel" }
  }

  #newest(): ElicitingCall | undefined {
    const calls = [...this.#atWork]
    return new Set(calls.map(({ conversation }) => conversation)).size === 1 ? calls.at(-1) : undefined
  }
}

/** A task as its server reports it. */
interface TaskState {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  /** Milliseconds until the server may drop it; null for never. */
  readonly ttl: number | null
  readonly pollInterval?: number | undefined
  /** Progress in the server's words. */
  readonly statusMessage?: string | undefined
}

interface Asking {
  readonly signal?: AbortSignal
  readonly timeoutMs: number
}

const Task = z.object({
  taskId: z.string().min(1).max(500),
  status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
  ttl: z.number().nullable().default(null),
  pollInterval: z.number().optional(),
  statusMessage: z.string().optional(),
})
/** Some servers answer with the result at once. */
const Started = z.union([z.object({ task: Task }), z.looseObject({ content: z.array(z.unknown()) })])
const Anything = z.looseObject({})

/**
 * Requests of revision 2025-11-25 for calls as tasks. The library knows the messages but has no functions for them, so each
 * is sent with our schema. In newer revisions tasks are an extension, whose results the library refuses.
 */
export class TaskRequests {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Calls a tool. Returns its task, or its result if it is there at once. */
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

  /** Waits for the result. The server may ask its questions in the meantime. */
  result(taskId: string, asking: Asking): Promise<unknown> {
    return this.#client.request({ method: "tasks/result", params: { taskId } }, Anything, toOptions(asking))
  }

  cancel(taskId: string, asking: Asking): Promise<unknown> {
    return this.#client.request({ method: "tasks/cancel", params: { taskId } }, Anything, toOptions(asking))
  }
}

const toOptions = ({ signal, timeoutMs }: Asking) => ({ timeout: timeoutMs, ...(signal ? { signal } : {}) })
