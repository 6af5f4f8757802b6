import { availableParallelism } from "node:os"
import { type Clock, systemClock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import { besideModule } from "../../shared/processes/thread.ts"
import { failure } from "../../protocol/errors.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { EmbedderThreads } from "./embedder-threads.ts"
import { pooled } from "./pool-windows.ts"

/** What has to be embedded for one caller, window by window. */
interface Job {
  readonly windows: readonly string[]
  readonly vectors: Float32Array[]
  /** The first window that no thread has been given. */
  next: number
  left: number
  /** What a thread died of, to be tried once more. */
  readonly again: Portion[]
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

export interface LocalEmbedderOptions {
  readonly clock?: Clock
  /** How long the threads stay without work: each holds 100 MB, and is there again in half a second. */
  readonly idleMs?: number
  /** How much text may wait. */
  readonly mostWaiting?: number
  /** How many threads there may be: all cores but one, which answers people meanwhile. */
  readonly threads?: number
  readonly log?: Log
  /** A test's own thread. */
  readonly thread?: URL
}

const NAME = "The local embedder"
const DIMENSIONS = 384
/** The model reads 256 wordpieces. Ours are counted roughly, so some are left free. Of a longer text only some windows are looked at. */
const WINDOWS = { tokens: 200, most: 6 }
const IDLE_MS = 5 * 60_000
const MAX_WAITING = 4096
/** Windows that end the thread twice will do so again. */
const MAX_TRIES = 2
/** Windows that a thread is given at a time: whoever asks something meanwhile waits for so many. */
const PORTION = 4
/** Windows that have to wait for a thread more to be started: it takes as long to begin as to embed eight. */
const WORTH_A_THREAD = 16
/** Whatever the machine has: together they hold 800 MB. */
const MAX_THREADS = 8

/**
 * all-MiniLM-L6-v2, which ships with the package and needs no network. It runs in threads of its own; callers take turns,
 * so that a question does not wait for ten thousand notes.
 */
export class LocalEmbedder implements Embedder {
  readonly name = "local/all-minilm-l6-v2"
  readonly dimensions = DIMENSIONS
  readonly #options: LocalEmbedderOptions
  readonly #clock: Clock
  readonly #threads: EmbedderThreads<Portion>
  readonly #mostThreads: number
  /** Whose turn is next stands first. */
  #jobs: Job[] = []
  #cancelIdle: () => void = () => {}

  constructor(options: LocalEmbedderOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#mostThreads = options.threads ?? Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
    this.#threads = new EmbedderThreads<Portion>({
      script: options.thread ?? besideModule(import.meta.url, "embed-thread"),
      log: options.log,
      done: (portion, vectors) => this.#take(portion, vectors),
      died: (portion, problem) => this.#tryAgain(portion, problem),
    })
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted()
    const shape = { limits: WINDOWS, dimensions: DIMENSIONS }
    return pooled(texts, shape, (windows) => this.#enqueue(windows, signal))
  }

  /** Ends the threads; a later call starts them again. */
  async close(): Promise<void> {
    const error = failure("provider_error", { provider: NAME, problem: "it was closed" })
    for (const job of [...this.#jobs]) this.#reject(job, error)
    await this.#end()
  }

  #enqueue(windows: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { mostWaiting = MAX_WAITING } = this.#options
    const waiting = this.#jobs.reduce((sum, { left }) => sum + left, 0)
    // One that is large by itself is no crowd: it would never get in.
    if (this.#jobs.length > 0 && waiting + windows.length > mostWaiting)
      return Promise.reject(failure("overloaded", { provider: NAME }))
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
    const job: Job = { windows, vectors: [], next: 0, left: windows.length, again: [], resolve, reject }
    this.#jobs.push(job)
    // What a thread is just working on comes back to nobody.
    const stop = () => this.#reject(job, signal.reason)
    signal.addEventListener("abort", stop, { once: true })
    this.#next()
    return promise.finally(() => signal.removeEventListener("abort", stop))
  }

  /** Gives out as much as there are threads for. */
  #next(): void {
    this.#cancelIdle()
    while (this.#threads.hasIdle || this.#mayStart()) {
      const portion = this.#nextPortion()
      if (!portion) break
      this.#threads.give(portion)
    }
    if (this.#threads.size > 0 && this.#threads.isIdle) this.#rest()
  }

  #mayStart(): boolean {
    const { size } = this.#threads
    if (size === 0) return true
    const waiting = this.#jobs.reduce((sum, { windows, next }) => sum + windows.length - next, 0)
    return size < this.#mostThreads && waiting >= WORTH_A_THREAD
  }

  /** Of whose turn it is; that one's next turn comes after all others. */
  #nextPortion(): Portion | undefined {
    const job = this.#jobs.find(({ windows, next, again }) => next < windows.length || again.length > 0)
    if (!job) return undefined
    this.#jobs = [...this.#jobs.filter((each) => each !== job), job]
    const again = job.again.pop()
    if (again) return again
    const first = job.next
    job.next = Math.min(first + PORTION, job.windows.length)
    return { job, first, windows: job.windows.slice(first, job.next), tries: 0 }
  }

  #take({ job, first, windows }: Portion, vectors: Float32Array): void {
    for (let i = 0; i < windows.length; i++)
      job.vectors[first + i] = vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS)
    job.left -= windows.length
    if (job.left === 0 && this.#jobs.includes(job)) {
      this.#jobs = this.#jobs.filter((each) => each !== job)
      job.resolve(job.vectors)
    }
    this.#next()
  }

  /** Once more, and then it is the text's fault. */
  #tryAgain(portion: Portion, problem: string): void {
    const { job, tries } = portion
    if (tries + 1 < MAX_TRIES) job.again.push({ ...portion, tries: tries + 1 })
    else this.#reject(job, failure("provider_error", { provider: NAME, problem }))
    this.#next()
  }

  #reject(job: Job, error: unknown): void {
    this.#jobs = this.#jobs.filter((each) => each !== job)
    job.reject(error)
  }

  #rest(): void {
    this.#cancelIdle = this.#clock.alarm(this.#options.idleMs ?? IDLE_MS, () => void this.#end(), "background")
  }

  async #end(): Promise<void> {
    this.#cancelIdle()
    await this.#threads.end()
  }
}
