import type { Worker } from "node:worker_threads"
import type { Log } from "../../core/shared/log.ts"
import { startThread } from "../../core/shared/processes/thread.ts"

interface ThreadsOptions<Work> {
  readonly script: URL
  readonly log: Log | undefined
  /** Called with the result of a thread. */
  onDone(work: Work, vectors: Float32Array): void
  /** Called if a thread ended during its work, or could not start. */
  onFailure(work: Work, problem: string): void
}

/** Threads that embed, each one piece of work at a time. */
export class EmbedderThreads<Work extends { readonly windows: readonly string[] }> {
  readonly #options: ThreadsOptions<Work>
  /** The current work of each thread. */
  readonly #threads = new Map<Worker, Work | undefined>()

  constructor(options: ThreadsOptions<Work>) {
    this.#options = options
  }

  get size(): number {
    return this.#threads.size
  }

  get hasIdle(): boolean {
    return this.#idle !== undefined
  }

  get isIdle(): boolean {
    return this.#threads.values().every((work) => work === undefined)
  }

  get #idle(): Worker | undefined {
    return this.#threads.entries().find(([, work]) => work === undefined)?.[0]
  }

  /** Assigns work to an idle thread, or to a new one. */
  assign(work: Work): void {
    const thread = this.#idle ?? this.#start()
    this.#threads.set(thread, work)
    thread.ref()
    thread.postMessage(work.windows)
  }

  /** Ends all threads; their current work gets no result. */
  async end(): Promise<void> {
    const threads = [...this.#threads.keys()]
    this.#threads.clear()
    await Promise.all(threads.map((thread) => thread.terminate()))
  }

  #start(): Worker {
    const { script, log, onDone, onFailure } = this.#options
    const thread = startThread(script, { log })
    let problem = "its thread ended before it had answered"
    thread.on("message", (vectors: Float32Array) => {
      const work = this.#threads.get(thread)
      if (!work) return
      this.#threads.set(thread, undefined)
      thread.unref() // an idle thread does not keep the process alive
      onDone(work, vectors)
    })
    thread.on("error", (error) => (problem = error instanceof Error ? error.message : String(error)))
    thread.on("exit", () => {
      const work = this.#threads.get(thread)
      if (this.#threads.delete(thread) && work) onFailure(work, problem)
    })
    return thread
  }
}
