import { PlayedServer, text } from "./played-server.ts"

type Status = "working" | "completed" | "failed" | "cancelled"

/** A server whose one tool, `dig`, is a task: it works until the test sets its status. */
export class TaskServer implements AsyncDisposable {
  readonly played: PlayedServer
  readonly tasks = new Map<string, Status>()
  /** The status of a new task. */
  begins: Status = "completed"
  ttl: number | null = null
  readonly #waiting: { readonly method: string; readonly resolve: () => void }[] = []

  private constructor(played: PlayedServer) {
    this.played = played
    played.capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
    played.play = ({ task }) => (task ? this.#begin() : text("Not as a task."))
    played.other = (method, params) => this.#answer(method, String(params?.taskId))
  }

  static async open(): Promise<TaskServer> {
    const execution = { taskSupport: "required" }
    return new TaskServer(await PlayedServer.open([{ name: "dig", description: "Takes long.", execution }]))
  }

  /** Resolves when the next request of this method has come. */
  next(method: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ method, resolve }))
  }

  count(method: string): number {
    return this.played.methods.filter((each) => each === method).length
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.played[Symbol.asyncDispose]()
  }

  #begin(): object {
    const taskId = `task-${this.tasks.size + 1}`
    this.tasks.set(taskId, this.begins)
    return { task: this.#task(taskId) }
  }

  #answer(method: string, taskId: string): object | undefined {
    for (const each of this.#waiting.splice(0)) {
      if (each.method === method) each.resolve()
      else this.#waiting.push(each)
    }
    if (!method.startsWith("tasks/")) return undefined
    if (!this.tasks.has(taskId)) return { error: { code: -32_602, message: "There is no such task." } }
    if (method === "tasks/cancel") this.tasks.set(taskId, "cancelled")
    return { result: method === "tasks/result" ? text(`Dug by ${taskId}.`) : this.#task(taskId) }
  }

  #task(taskId: string) {
    const at = "2026-01-01T00:00:00Z"
    const times = { createdAt: at, lastUpdatedAt: at, ttl: this.ttl, pollInterval: 1000 }
    return { taskId, status: this.tasks.get(taskId), ...times }
  }
}
