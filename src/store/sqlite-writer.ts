import type { DatabaseSync } from "node:sqlite"
import { Worker } from "node:worker_threads"
import { failure } from "../protocol/errors.ts"
import type { Operation, Outcome } from "./operations.ts"
import { openConnection, type SqliteSettings } from "./sqlite-connection.ts"
import { SqliteOperations } from "./sqlite-operations.ts"

interface Waiting {
  readonly operation: Operation
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

type Applied = { readonly outcomes: (Outcome | Error)[] } | { readonly failed: Error }

/** Carries one batch out. A busy database is an answer too: the batch has done nothing and may come again. */
interface Hands {
  apply(operations: Operation[]): Promise<Applied> | Applied
  close(): Promise<void>
}

const RETRY_MS = 20
const GIVE_UP_AFTER_MS = 10_000

/** So many batches may follow each other without a turn of the event loop; then sockets and timers get theirs. */
const BATCHES_A_TURN = 16

/**
 * The one writer of a SQLite database. Operations of everything that can run now, of however many conversations, share
 * one commit, and with it one fsync; while that is under way the next ones gather.
 */
export class SqliteWriter {
  readonly #hands: Hands
  #waiting: Waiting[] = []
  #busy = false
  #scheduled = false
  #closed = false
  #batches = 0
  #idle: (() => void) | undefined

  constructor(settings: SqliteSettings) {
    // With fsync a commit may take milliseconds: a thread of its own keeps the event loop free. Without, the way to the
    // thread would cost more than the commit.
    this.#hands =
      settings.durability === "full" && settings.file !== ":memory:" ? threadHands(settings) : ownHands(settings)
  }

  change(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(failure("store_unavailable", { problem: "it is closed" }))
      this.#waiting.push({ operation, resolve, reject })
      this.#schedule()
    })
  }

  async close(): Promise<void> {
    if (this.#busy || this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    this.#closed = true
    await this.#hands.close()
  }

  #schedule(): void {
    if (this.#busy || this.#scheduled) return
    this.#scheduled = true
    // The next tick comes when every promise that could go on has gone on: whoever has something to write has said so.
    if (++this.#batches < BATCHES_A_TURN) process.nextTick(() => void this.#flush())
    else setImmediate(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#scheduled = false
    this.#busy = true
    if (this.#batches >= BATCHES_A_TURN) this.#batches = 0
    const pending = this.#apply(batch.map(({ operation }) => operation))
    const applied = pending instanceof Promise ? await pending : pending
    this.#busy = false
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = "failed" in applied ? applied.failed : (applied.outcomes[index] as Outcome | Error)
      if (outcome instanceof Error) reject(toFailure(outcome))
      else resolve(outcome)
    })
    if (this.#waiting.length > 0) this.#schedule()
    else this.#idle?.()
  }

  #apply(operations: Operation[]): Applied | Promise<Applied> {
    const applied = this.#hands.apply(operations)
    if (applied instanceof Promise) return applied.then((done) => this.#orAgain(done, operations))
    return "failed" in applied && isBusy(applied.failed) ? this.#orAgain(applied, operations) : applied
  }

  /** Another process holds the lock: nothing was done, so it is tried again, without blocking meanwhile. */
  async #orAgain(first: Applied, operations: Operation[]): Promise<Applied> {
    const deadline = Date.now() + GIVE_UP_AFTER_MS
    let applied = first
    while ("failed" in applied && isBusy(applied.failed) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      applied = await this.#hands.apply(operations)
    }
    return applied
  }
}

function ownHands(settings: SqliteSettings): Hands {
  const db: DatabaseSync = settings.connection ?? openConnection(settings)
  const operations = new SqliteOperations(db)
  return {
    apply(batch) {
      try {
        return { outcomes: operations.applyAll(batch) }
      } catch (error) {
        return { failed: error as Error }
      }
    },
    async close() {
      if (!settings.connection) db.close()
    },
  }
}

/** A thread does the work as soon as it is there; until then, and should it ever die, this one does. */
function threadHands(settings: SqliteSettings): Hands {
  const own = ownHands(settings)
  const { connection: _, ...sendable } = settings
  // Beside this file, in the checkout and in a bundle alike, with the same ending.
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
  const worker = new Worker(new URL(`./sqlite-thread${ending}`, import.meta.url), {
    workerData: sendable,
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 }, // it holds a batch at a time
  })
  let ready = false
  let answer: ((applied: Applied) => void) | undefined
  const gone = (error: Error) => {
    ready = false
    answer?.({ failed: error }) // whether the batch was done is not known
  }
  worker.on("message", (said: Applied | "ready") => {
    if (said === "ready") ready = true
    else answer?.(said)
  })
  worker.on("error", gone)
  worker.on("exit", (code) => gone(new Error(`the writer thread ended with ${code}`)))
  worker.unref() // a process that has nothing else to do may end
  return {
    apply(batch) {
      if (!ready) return own.apply(batch)
      return new Promise((resolve) => {
        worker.ref() // but never before what it was told is on disk
        answer = (applied) => {
          answer = undefined
          worker.unref()
          resolve(applied)
        }
        worker.postMessage(batch)
      })
    },
    async close() {
      await worker.terminate()
      await own.close()
    },
  }
}

const isBusy = (error: Error) =>
  (error as { errcode?: number }).errcode === 5 || /database is (locked|busy)/.test(error.message)

function toFailure(error: Error): Error {
  const known = failure("store_unavailable", { problem: error.message })
  known.cause = error
  return known
}
