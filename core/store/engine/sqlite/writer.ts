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
/** At most 16 batches per event-loop turn, so that sockets and timers are not starved. */
const BATCHES_A_TURN = 16

/**
 * The one writer of a SQLite database. Operations of everything that can run now, of however many conversations, share
 * one commit; with `full` durability each is answered only when the log is on the disk, and while the disk works the
 * next commits go on.
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
  #open = 0
  #closed = false
  #idle: (() => void) | undefined
  readonly #broken = new AbortController()

  constructor(db: DatabaseSync, settings: WriterSettings) {
    this.#db = db
    this.#settings = settings
    this.#operations = new SqliteOperations(db)
    this.#checkpoints = settings.file === ":memory:" ? undefined : new Checkpoints(settings.file, settings.log)
  }

  /** Aborts when the disk has failed to keep what it was given: nothing is written any more until the next start. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  change(operation: Operation): Promise<OperationOutcome> {
    return new Promise<OperationOutcome>((resolve, reject) => {
      if (this.#closed) return reject(failure("store_unavailable", { problem: "it is closed" }))
      this.#open++
      this.#waiting.push({ operation, resolve, reject })
      this.#schedule()
    })
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    await this.#checkpoints?.close()
    this.#sync?.close()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    if (this.#checkpoints?.pressing) return void setTimeout(this.#flush, RETRY_MS)
    // The next tick comes when every promise that could go on has gone on: whoever has something to write has said so.
    if (++this.#batches < BATCHES_A_TURN) process.nextTick(this.#flush)
    else setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    if (this.#batches >= BATCHES_A_TURN) this.#batches = 0
    const batch = this.#waiting
    this.#waiting = []
    // Committed now it would be seen by every reader, and refused to the one who asked for it.
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
      // Another process is writing: nothing was done, so it may come again, without blocking meanwhile.
      this.#waiting = [...batch, ...this.#waiting]
      this.#scheduled = true
      setTimeout(this.#flush, RETRY_MS)
    }
  }

  /** Undefined when the commit is as durable as it needs to be. */
  #makeDurable(): Promise<void> | undefined {
    const { file, durability } = this.#settings
    if (file === ":memory:") return undefined
    if (!this.#relaxed) {
      // The first commit was SQLite's own, fsync included: with it the log's own name is on the disk too. From now on
      // COMMIT only writes, and the fsync is ours, beside the event loop.
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
    void this.#checkpoints?.close() // folding in a log that is not on the disk could ruin the database itself
  }

  #answer(batch: readonly Waiting[], outcomes: readonly (OperationOutcome | Error)[] | Error): void {
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes instanceof Error ? outcomes : (outcomes[index] as OperationOutcome | Error)
      if (outcome instanceof Error) reject(toWriteFailure(outcome))
      else resolve(outcome)
    })
    this.#open -= batch.length
    if (this.#open === 0) this.#idle?.()
  }
}
