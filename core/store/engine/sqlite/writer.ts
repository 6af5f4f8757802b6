import type { Log } from "../../../shared/log.ts"
import type { DatabaseSync } from "node:sqlite"
import { failure } from "../../../protocol/errors.ts"
import { Checkpoints } from "./checkpoint.ts"
import type { Operation, OperationOutcome } from "../operations.ts"
import { isLocked } from "./connection.ts"
import { SqliteOperations } from "./operations.ts"
import { toWriteFailure } from "../store-failure.ts"
import { WalSync } from "./wal-sync.ts"

export interface WriterSettings {
  readonly file: string
  readonly durability: "full" | "normal"
  readonly log?: Log | undefined
}

interface Waiting {
  readonly operation: Operation
  resolve(outcome: OperationOutcome): void
  reject(error: unknown): void
}

const RETRY_MS = 5
const GIVE_UP_AFTER_MS = 10_000
/** More batches in one turn would starve sockets and timers. */
const BATCHES_A_TURN = 16

/**
 * The one writer of a SQLite database. Operations that are ready at the same time share one commit. With `full`
 * durability each resolves only when the log is on the disk; further commits continue in the meantime.
 */
export class SqliteWriter {
  readonly #db: DatabaseSync
  readonly #settings: WriterSettings
  readonly #operations: SqliteOperations
  readonly #checkpoints: Checkpoints | undefined
  #sync: WalSync | undefined
  #relaxed = false
  #waiting: Waiting[] = []
  #scheduled = false
  #batches = 0
  #lockedSince: number | undefined
  #inFlight = 0
  #closed = false
  #onIdle: (() => void) | undefined
  readonly #broken = new AbortController()

  constructor(db: DatabaseSync, settings: WriterSettings) {
    this.#db = db
    this.#settings = settings
    this.#operations = new SqliteOperations(db)
    this.#checkpoints = settings.file === ":memory:" ? undefined : new Checkpoints(settings.file, settings.log)
  }

  /** Aborts if the disk failed to store something. Nothing is written until the next start. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  change(operation: Operation): Promise<OperationOutcome> {
    return new Promise<OperationOutcome>((resolve, reject) => {
      if (this.#closed) return reject(failure("store_unavailable", { problem: "it is closed" }))
      this.#inFlight++
      this.#waiting.push({ operation, resolve, reject })
      this.#schedule()
    })
  }

  /** Waits for pending operations. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.#checkpoints?.close()
    this.#sync?.close()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    if (this.#checkpoints?.isBehind) return void setTimeout(this.#flush, RETRY_MS)
    // `nextTick` runs after all pending promises, so everything that is ready has been added.
    if (++this.#batches < BATCHES_A_TURN) process.nextTick(this.#flush)
    else setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    if (this.#batches >= BATCHES_A_TURN) this.#batches = 0
    const batch = this.#waiting
    this.#waiting = []
    // Committed now, readers would see it although its caller gets an error.
    if (this.#broken.signal.aborted) return this.#answer(batch, this.#broken.signal.reason as Error)
    try {
      const outcomes = this.#operations.applyAll(batch.map(({ operation }) => operation))
      this.#lockedSince = undefined
      const durable = this.#makeDurable()
      this.#checkpoints?.committed()
      if (!durable) return this.#answer(batch, outcomes)
      durable.then(
        () => this.#answer(batch, outcomes),
        () => this.#answer(batch, this.#broken.signal.reason as Error),
      )
    } catch (error) {
      if (!isLocked(error) || Date.now() > (this.#lockedSince ??= Date.now()) + GIVE_UP_AFTER_MS) {
        return this.#answer(batch, error as Error)
      }
      // Another process is writing. Nothing was done, so it can be retried without blocking.
      this.#waiting = [...batch, ...this.#waiting]
      this.#scheduled = true
      setTimeout(this.#flush, RETRY_MS)
    }
  }

  /** Undefined if the commit is already as durable as required. */
  #makeDurable(): Promise<void> | undefined {
    const { file, durability } = this.#settings
    if (file === ":memory:") return undefined
    if (!this.#relaxed) {
      // SQLite itself flushed the first commit, so the log's name is durable, too. From now on COMMIT only writes, and
      // WalSync flushes outside the event loop.
      if (durability === "full") this.#sync = new WalSync(file, (error) => this.#break(error))
      this.#db.exec("PRAGMA synchronous = NORMAL")
      this.#relaxed = true
      return undefined
    }
    return this.#sync?.flush()
  }

  #break(cause: Error): void {
    const problem = `the disk failed to keep what was written (${cause.message}); nothing is accepted until a new start`
    const known = failure("store_unavailable", { problem })
    known.cause = cause
    this.#broken.abort(known)
    void this.#checkpoints?.close() // a checkpoint of a log that is not durable could damage the database
  }

  #answer(batch: readonly Waiting[], outcomes: readonly (OperationOutcome | Error)[] | Error): void {
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes instanceof Error ? outcomes : (outcomes[index] as OperationOutcome | Error)
      if (outcome instanceof Error) reject(toWriteFailure(outcome))
      else resolve(outcome)
    })
    this.#inFlight -= batch.length
    if (this.#inFlight === 0) this.#onIdle?.()
  }
}
