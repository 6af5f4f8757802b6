import { statSync } from "node:fs"
import { Worker } from "node:worker_threads"

/** How long the log may grow before it is folded into the database. */
const LOG_BYTES = 16 * 1024 * 1024
/** The size is looked at once in so many commits. */
const EVERY = 64

/**
 * Keeps the write-ahead log short. Folding it in means fsyncs, so a thread does it; it is started when first needed, and
 * a server with little to do never needs it.
 */
export class Checkpoints {
  readonly #file: string
  #commits = 0
  #worker: Worker | undefined
  #busy = false

  constructor(file: string) {
    this.#file = file
  }

  /** To be called after every commit. */
  committed(): void {
    if (++this.#commits % EVERY !== 0 || this.#busy) return
    if ((statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) this.#run()
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #run(): void {
    this.#busy = true
    this.#worker ??= this.#start()
    this.#worker.postMessage("checkpoint")
  }

  #start(): Worker {
    // Beside this file, in the checkout and in a bundle alike, with the same ending.
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
    const worker = new Worker(new URL(`./checkpoint-thread${ending}`, import.meta.url), { workerData: this.#file })
    worker.unref()
    worker.on("message", () => {
      this.#busy = false
    })
    worker.on("error", () => {}) // the log stays long, and the next commits try again
    worker.on("exit", () => {
      this.#worker = undefined
      this.#busy = false
    })
    return worker
  }
}
