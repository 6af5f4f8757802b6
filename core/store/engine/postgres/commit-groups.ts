import type { Commit, Committed, OperationOutcome } from "../operations.ts"
import { type CommitShape, shapeOf, conversationOfCommit } from "./commit.ts"

export interface CommitRunner {
  /**
   * Runs all in one statement that waits for no lock. Returns results in order, undefined for those that it skipped.
   */
  runGroup(operations: readonly Commit[]): Promise<(Committed | undefined)[]>
  /** Runs one, waits for the holder of the conversation, and returns why it was refused. */
  runOne(operation: Commit): Promise<OperationOutcome>
  /** Whether the database refused the statement, so that nothing was done. Otherwise the outcome is unknown. */
  isRefused(error: unknown): boolean
  /** How many statements run at once before further commits are gathered. */
  readonly maxConcurrent: number
}

interface PendingCommit {
  readonly operation: Commit
  readonly shape: CommitShape
  resolve(outcome: OperationOutcome | Promise<OperationOutcome>): void
  reject(error: unknown): void
}

/** Measured with 64 conversations: two groups of 32 conflict less than one of 64, and cost hardly more. */
const MAX_GROUP = 32
/** The limit of a group. A longer commit goes alone, so that short ones do not wait for it. */
const MAX_CHARACTERS = 256 * 1024
/** A slower statement may wait for a row that a frozen node holds; others do not wait behind it. */
const SLOW_MS = 100

/**
 * Groups commits of several conversations into one statement if more arrive than the database runs at once. A commit
 * never waits for company: while few are in flight it goes alone, and those that arrive meanwhile are gathered.
 *
 * Each gets the result that it would have got alone. Commits that a group's statement skipped are tried alone, and so
 * are all of them if the database refused the statement. If the answer was lost, none is retried.
 */
export class CommitGroups {
  readonly #runner: CommitRunner
  #pending: PendingCommit[] = []
  #inFlight = 0
  #scheduled = false

  constructor(runner: CommitRunner) {
    this.#runner = runner
  }

  /** The caller must not pass two commits of one conversation at a time. */
  change(operation: Commit): Promise<OperationOutcome> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ operation, shape: shapeOf(operation), resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#runner.maxConcurrent) return
    this.#scheduled = true
    // `nextTick` runs after all pending promises, so everything that is ready has been added.
    process.nextTick(() => {
      this.#scheduled = false
      while (this.#pending.length > 0 && this.#inFlight < this.#runner.maxConcurrent) void this.#send(this.#takeGroup())
    })
  }

  /** Removes the oldest commit, and those that can be written with it. */
  #takeGroup(): PendingCommit[] {
    const shape = this.#pending[0]?.shape
    const group: PendingCommit[] = []
    const left: PendingCommit[] = []
    const conversations = new Set<number | string>()
    let characters = 0
    for (const each of this.#pending) {
      const conversation = conversationOfCommit(each.operation)
      // Two new conversations with one id are separate commits, and one result would be taken for both.
      const fits = each.shape === shape && group.length < MAX_GROUP && !conversations.has(conversation)
      const length = fits ? lengthOf(each.operation) : 0
      if (fits && (group.length === 0 || characters + length <= MAX_CHARACTERS)) {
        characters += length
        conversations.add(conversation)
        group.push(each)
      } else left.push(each)
    }
    this.#pending = left
    return group
  }

  async #send(group: readonly PendingCommit[]): Promise<void> {
    this.#inFlight++
    let isCounted = true
    const finish = () => {
      if (isCounted) this.#inFlight--
      isCounted = false
      if (this.#pending.length > 0) this.#schedule()
    }
    const slow = setTimeout(finish, SLOW_MS)
    const [first] = group
    if (first && group.length === 1) await this.#runner.runOne(first.operation).then(first.resolve, first.reject)
    else await this.#runGroup(group)
    clearTimeout(slow)
    finish()
  }

  async #runGroup(group: readonly PendingCommit[]): Promise<void> {
    try {
      const committed = await this.#runner.runGroup(group.map(({ operation }) => operation))
      group.forEach(({ operation, resolve }, index) => {
        const result = committed[index]
        resolve(result ? { ok: true, committed: result } : this.#runner.runOne(operation))
      })
    } catch (error) {
      const refused = this.#runner.isRefused(error)
      for (const { operation, resolve, reject } of group) {
        if (refused) resolve(this.#runner.runOne(operation))
        else reject(error)
      }
    }
  }
}

/** In characters, of the columns that can be long. */
function lengthOf({ events, audits }: Commit): number {
  let length = 0
  for (const row of events) length += textOf(row)
  for (const row of audits) length += textOf(row)
  return length
}

function textOf(row: readonly unknown[]): number {
  let length = 0
  for (const value of row) if (typeof value === "string") length += value.length
  return length
}
