import { AsyncLocalStorage } from "node:async_hooks"
import type { Client } from "@modelcontextprotocol/client"
import { z } from "zod"

/** How a server's question is answered. `cancel`: nobody has answered. */
export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Record<string, string | number | boolean | string[]>
}

/** Nobody was asked, because the question cannot be shown. The server gets an error that says so. */
export interface Unaskable {
  readonly unaskable: string
}

/** A call in whose name a server may ask. */
export interface QuestioningCall {
  readonly conversation: string
  /** Puts what it asks to the person of the call. */
  ask(asked: unknown): Promise<GivenAnswer | Unaskable>
}

/**
 * Finds the call in which a server asks something. What it says over the stream of a call is of that call. What it says
 * elsewhere is of the newest that is at work, as long as all are of one conversation; where they are not nobody is asked.
 */
export class QuestioningCalls {
  readonly #streams = new AsyncLocalStorage<QuestioningCall>()
  readonly #atWork = new Set<QuestioningCall>()

  async during<T>(asking: QuestioningCall, work: () => Promise<T>): Promise<T> {
    this.#atWork.add(asking)
    try {
      return await this.#streams.run(asking, work)
    } finally {
      this.#atWork.delete(asking)
    }
  }

  async answer(asked: unknown): Promise<GivenAnswer | Unaskable> {
    const here = this.#streams.getStore()
    const asking = here && this.#atWork.has(here) ? here : this.#newest()
    return asking ? asking.ask(asked) : { action: "cancel" }
  }

  #newest(): QuestioningCall | undefined {
    const calls = [...this.#atWork]
    return new Set(calls.map(({ conversation }) => conversation)).size === 1 ? calls.at(-1) : undefined
  }
}

/** How a task stands, as its server tells. */
interface TaskState {
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

const Task = z.object({
  taskId: z.string().min(1).max(500),
  status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
  ttl: z.number().nullable().default(null),
  pollInterval: z.number().optional(),
  statusMessage: z.string().optional(),
})
/** Some answer such a call at once, with its result. */
const Started = z.union([z.object({ task: Task }), z.looseObject({ content: z.array(z.unknown()) })])
const Anything = z.looseObject({})

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
