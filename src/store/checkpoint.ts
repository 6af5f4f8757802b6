import { statSync } from "node:fs"
import { Worker } from "node:worker_threads"

/** How long the log may grow before it is folded into the database. */
const LOG_BYTES = 16 * 1024 * 1024
/** Longer than this, writers have to wait a moment so that the thread gets its turn. */
const PRESSING_BYTES = 4 * LOG_BYTES
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
  /** The log has grown faster than it could be folded in. */
  pressing = false

  constructor(file: string) {
    this.#file = file
  }

  /** To be called after every commit. */
  committed(): void {
    if (++this.#commits % EVERY !== 0) return
    const size = statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    this.pressing = this.#busy && size > PRESSING_BYTES
    if (size > LOG_BYTES && !this.#busy) this.#run()
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
    worker.on("message", () => this.#ended())
    worker.on("error", () => {}) // the log stays long, and the next commits try again
    worker.on("exit", () => {
      this.#worker = undefined
      this.#ended()
    })
    return worker
  }

  #ended(): void {
    this.#busy = this.pressing = false
  }
}
