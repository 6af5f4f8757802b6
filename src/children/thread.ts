import { Worker, type WorkerOptions } from "node:worker_threads"
import type { Log } from "../agent/ports.ts"
import { Tail } from "./tail.ts"

/** A thread that does work for this process. When it ends and nobody has asked it to, the log is told how, and what it said. */
export class Thread extends Worker {
  #expected = false

  constructor(script: URL, { log, ...options }: WorkerOptions & { readonly log?: Log | undefined } = {}) {
    super(script, { ...options, stderr: true })
    const stderr = new Tail(this.stderr)
    let error: unknown
    this.on("error", (thrown) => (error = thrown)) // whoever waits for an answer is told as well
    this.once("exit", (code) => {
      if (this.#expected || (code === 0 && error === undefined)) return
      const thread = script.pathname.replace(/^.*\//, "").replace(/\.\w+$/, "")
      log?.warn("thread_died", { thread, code, stderr: stderr.text, ...(error === undefined ? {} : { error }) })
    })
  }

  override terminate(): Promise<number> {
    this.#expected = true
    return super.terminate()
  }
}
