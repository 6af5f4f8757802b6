import type { Worker } from "node:worker_threads"
import { type Clock, systemClock } from "../../agent/clock.ts"
import type { Log } from "../../agent/ports.ts"
import { besideModule } from "../../children/beside-module.ts"
import { Thread } from "../../children/thread.ts"
import { type AppError, failure } from "../../protocol/errors.ts"
import type { Embedder } from "../../protocol/ports/workspace.ts"
import { pooled } from "./pool-windows.ts"

/** What has to be embedded for one caller, window by window. */
interface Job {
  readonly windows: readonly string[]
  readonly vectors: Float32Array[]
  resolve(vectors: Float32Array[]): void
  reject(error: unknown): void
}

export interface LocalEmbedderOptions {
  readonly clock?: Clock
  /** How long the thread stays without work: it holds 300 MB, and is there again in half a second. */
  readonly idleMs?: number
  /** How much text may wait. */
  readonly mostWaiting?: number
  readonly log?: Log
  /** A test's own thread. */
  readonly thread?: URL
}

const NAME = "The local embedder"
const DIMENSIONS = 384
/**
 * The model reads 256 wordpieces. Ours are counted roughly, so some are left free. A full window takes a busy machine two
 * seconds: of a longer text so many are looked at that whoever asked still waits.
 */
const WINDOWS = { tokens: 200, most: 6 }
const IDLE_MS = 5 * 60_000
const MAX_WAITING = 4096
/** A text that has ended the thread twice will do so again. */
const MAX_TRIES = 2

/**
 * all-MiniLM-L6-v2, which ships with the package and needs no network. It runs in a thread of its own, because a page of
 * text takes it half a second; callers take turns, so that a question does not wait for ten thousand notes.
 */
export class LocalEmbedder implements Embedder {
  readonly name = "local/all-minilm-l6-v2"
  readonly dimensions = DIMENSIONS
  readonly #options: LocalEmbedderOptions
  readonly #clock: Clock
  /** Whose turn is next stands first. */
  #jobs: Job[] = []
  #worker: Worker | undefined
  #working: Job | undefined
  #tries = 0
  #problem = ""
  #cancelIdle: () => void = () => {}

  constructor(options: LocalEmbedderOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted()
    const shape = { limits: WINDOWS, dimensions: DIMENSIONS }
    return pooled(texts, shape, (windows) => this.#enqueue(windows, signal))
  }

  /** Ends the thread; a later call starts it again. */
  async close(): Promise<void> {
    this.#fail(failure("provider_error", { provider: NAME, problem: "it was closed" }))
    await this.#end()
  }

  #enqueue(windows: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { mostWaiting = MAX_WAITING } = this.#options
    const waiting = this.#jobs.reduce((sum, job) => sum + job.windows.length - job.vectors.length, 0)
    // One that is large by itself is no crowd: it would never get in.
    if (this.#jobs.length > 0 && waiting + windows.length > mostWaiting)
      return Promise.reject(failure("overloaded", { provider: NAME }))
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
    const job: Job = { windows, vectors: [], resolve, reject }
    this.#jobs.push(job)
    const stop = () => {
      // What the thread is just working on comes back to nobody.
      this.#jobs = this.#jobs.filter((each) => each !== job)
      reject(signal.reason)
    }
    signal.addEventListener("abort", stop, { once: true })
    this.#next()
    return promise.finally(() => signal.removeEventListener("abort", stop))
  }

  #next(): void {
    if (this.#working) return
    const job = this.#jobs.shift()
    if (!job) return this.#rest()
    this.#cancelIdle()
    this.#jobs.push(job)
    this.#working = job
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(job.windows[job.vectors.length])
  }

  #take(vector: Float32Array): void {
    const job = this.#working
    this.#working = undefined
    this.#tries = 0
    if (job && this.#jobs.includes(job)) {
      job.vectors.push(vector)
      if (job.vectors.length === job.windows.length) {
        this.#jobs = this.#jobs.filter((each) => each !== job)
        job.resolve(job.vectors)
      }
    }
    this.#next()
  }

  #start(): Worker {
    const { thread = besideModule(import.meta.url, "embed-thread"), log } = this.#options
    const worker = new Thread(thread, { log })
    worker.on("message", (vector: Float32Array) => {
      if (worker === this.#worker) this.#take(vector)
    })
    worker.on("error", (error) => (this.#problem = error instanceof Error ? error.message : String(error)))
    worker.on("exit", () => {
      if (worker === this.#worker) this.#died()
    })
    return worker
  }

  /** The thread is gone in the middle of its work, or could not begin: once more, and then it is the text's fault. */
  #died(): void {
    this.#worker = undefined
    const job = this.#working
    this.#working = undefined
    if (!job) return
    if (this.#jobs.includes(job)) {
      this.#jobs = this.#jobs.filter((each) => each !== job)
      if (++this.#tries < MAX_TRIES) this.#jobs.unshift(job)
      else {
        this.#tries = 0
        job.reject(this.#broken())
      }
    }
    this.#next()
  }

  #broken(): AppError {
    const problem = this.#problem || "its thread ended before it had answered"
    this.#problem = ""
    return failure("provider_error", { provider: NAME, problem })
  }

  #rest(): void {
    this.#worker?.unref()
    this.#cancelIdle()
    this.#cancelIdle = this.#clock.alarm(this.#options.idleMs ?? IDLE_MS, () => void this.#end(), "background")
  }

  #fail(error: AppError): void {
    const jobs = this.#jobs
    this.#jobs = []
    for (const job of jobs) job.reject(error)
  }

  async #end(): Promise<void> {
    this.#cancelIdle()
    const worker = this.#worker
    this.#worker = undefined
    this.#working = undefined
    await worker?.terminate()
  }
}
