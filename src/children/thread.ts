import type { Worker, WorkerOptions } from "node:worker_threads"
import type { Log } from "../agent/ports.ts"
import { Tail } from "./tail.ts"

/**
 * Starts a thread that does work for this process. When it ends and nobody has asked it to, the log is told how, and what
 * it said. What Node needs for threads is loaded with the first: many a process never has one.
 */
export function startThread(
  script: URL,
  { log, ...options }: WorkerOptions & { readonly log?: Log | undefined } = {},
): Worker {
  const threads = process.getBuiltinModule("node:worker_threads")
  const thread = new threads.Worker(script, { ...options, stderr: true })
  const stderr = new Tail(thread.stderr)
  let error: unknown
  let isExpected = false
  const terminate = thread.terminate.bind(thread)
  thread.terminate = () => {
    isExpected = true
    return terminate()
  }
  thread.on("error", (thrown) => (error = thrown)) // whoever waits for an answer is told as well
  thread.once("exit", (code) => {
    if (isExpected || (code === 0 && error === undefined)) return
    const name = script.pathname.replace(/^.*\//, "").replace(/\.\w+$/, "")
    log?.warn("thread_died", { thread: name, code, stderr: stderr.text, ...(error === undefined ? {} : { error }) })
  })
  return thread
}
