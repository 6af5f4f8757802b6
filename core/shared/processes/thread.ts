import { once } from "node:events"
import type { ResourceLimits, Worker, WorkerOptions } from "node:worker_threads"
import type { Log } from "../log.ts"
import { Semaphore } from "../concurrency/locks.ts"
import { Tail } from "./child.ts"
import { sourceFlags } from "./permission-flags.ts"

/**
 * Starts a thread that works for this process. If it ends unexpectedly, its exit and its last output are logged. Node's
 * modules for threads are loaded with the first, because many processes never start one.
 */
export function startThread(
  script: URL,
  { log, ...options }: WorkerOptions & { readonly log?: Log | undefined } = {},
): Worker {
  const threads = process.getBuiltinModule("node:worker_threads")
  const flags = sourceFlags(script.pathname)
  const execArgv = flags.length > 0 ? { execArgv: flags } : {}
  const thread = new threads.Worker(script, { ...execArgv, ...options, stderr: true })
  const stderr = new Tail(thread.stderr)
  let error: unknown
  let isExpected = false
  const terminate = thread.terminate.bind(thread)
  thread.terminate = () => {
    isExpected = true
    return terminate()
  }
  thread.on("error", (thrown) => (error = thrown)) // callers get the error, too
  thread.once("exit", (code) => {
    if (isExpected || (code === 0 && error === undefined)) return
    const name = script.pathname.replace(/^.*\//, "").replace(/\.\w+$/, "")
    log?.warn("thread_failed", { thread: name, code, stderr: stderr.text, ...(error === undefined ? {} : { error }) })
  })
  return thread
}

interface JobThreadOptions {
  readonly script: URL
  /** Per job. A thread that exceeds it is ended, and the next job gets a new one. */
  readonly timeLimitMs: number
  readonly resourceLimits?: ResourceLimits
  readonly log?: Log | undefined
}

/**
 * Runs jobs in a thread, one after the other. A job that never ends delays the jobs after it by at most the time limit.
 */
export class JobThread<Job, Answer> {
  readonly #options: JobThreadOptions
  readonly #lane = new Semaphore(1)
  #thread: Worker | undefined

  constructor(options: JobThreadOptions) {
    this.#options = options
  }

  /**
   * Throws if the thread fails or exceeds the limit. `isBroken` returns true if the thread cannot be used again after a
   * result.
   */
  run(job: Job, isBroken: (answer: Answer) => boolean = () => false): Promise<Answer> {
    return this.#lane.run(async () => {
      const thread = (this.#thread ??= this.#start())
      thread.ref()
      try {
        thread.postMessage(job)
        const answered = once(thread, "message", { signal: AbortSignal.timeout(this.#options.timeLimitMs) })
        const [answer] = (await answered) as [Answer]
        if (isBroken(answer)) await this.close()
        return answer
      } catch (error) {
        await this.close()
        throw error
      } finally {
        thread.unref()
      }
    })
  }

  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  #start(): Worker {
    const { script, resourceLimits = {}, log } = this.#options
    return startThread(script, { env: {}, resourceLimits, log })
  }
}

/** The path of a script next to a module, with the module's file extension, in a checkout and in a bundle. */
export function siblingScript(address: string, name: string): URL {
  return new URL(`./${name}${address.slice(address.lastIndexOf("."))}`, address)
}
