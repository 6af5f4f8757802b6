import type { Commit, Committed, OperationOutcome } from "../operations.ts"
import { type CommitShape, shapeOf, whoseIs } from "./commit.ts"

export interface CommitWays {
  /** One statement for all, which waits for nobody: in their order, undefined for whoever it left out. */
  together(operations: readonly Commit[]): Promise<(Committed | undefined)[]>
  /** Waits for whoever holds the conversation, and says why it is refused. */
  alone(operation: Commit): Promise<OperationOutcome>
  /** Whether the database itself has refused the statement: then nothing of it was done. Otherwise nobody knows. */
  isRefused(error: unknown): boolean
  /** So many statements are under way before commits wait to be gathered. */
  readonly atOnce: number
}

interface Waiting {
  readonly operation: Commit
  readonly shape: CommitShape
  resolve(outcome: OperationOutcome | Promise<OperationOutcome>): void
  reject(error: unknown): void
}

/** Measured: of 64 conversations two groups are in each other's way less than one, and cost hardly more than it. */
const MOST_COMMITS = 32
/** Of all that they bring. A longer one goes alone: whoever has little to write does not wait for it. */
const MOST_CHARACTERS = 256 * 1024
/** A statement that takes longer may wait for a row that a frozen node holds: others do not wait behind it. */
const SLOW_MS = 100

/**
 * Commits of many conversations, written together where there are more than the database takes at once. Nobody waits for
 * company: what comes while few are under way goes at once, by itself; what comes meanwhile is gathered.
 *
 * Each has the answer that it would have had alone. Whoever is left out of a group's statement is tried alone, and so is
 * everybody where the database refused it, for whatever one of them has brought. Where the answer was lost nobody is.
 */
export class CommitGroups {
  readonly #ways: CommitWays
  #waiting: Waiting[] = []
  #underWay = 0
  #scheduled = false

  constructor(ways: CommitWays) {
    this.#ways = ways
  }

  /** The caller sees to it that no conversation has two at a time. */
  change(operation: Commit): Promise<OperationOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, shape: shapeOf(operation), resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.#ways.atOnce) return
    this.#scheduled = true
    // The next tick comes when every promise that could go on has gone on: whoever has something to write has said so.
    process.nextTick(() => {
      this.#scheduled = false
      while (this.#waiting.length > 0 && this.#underWay < this.#ways.atOnce) void this.#send(this.#take())
    })
  }

  /** The one that has waited longest, and what can be written with it. */
  #take(): Waiting[] {
    const shape = this.#waiting[0]?.shape
    const group: Waiting[] = []
    const left: Waiting[] = []
    const conversations = new Set<number | string>()
    let characters = 0
    for (const each of this.#waiting) {
      const whose = whoseIs(each.operation)
      // Two that are to be born under one id are as many commits as others, and one answer would be taken for both.
      const fits = each.shape === shape && group.length < MOST_COMMITS && !conversations.has(whose)
      const length = fits ? lengthOf(each.operation) : 0
      if (fits && (group.length === 0 || characters + length <= MOST_CHARACTERS)) {
        characters += length
        conversations.add(whose)
        group.push(each)
      } else left.push(each)
    }
    this.#waiting = left
    return group
  }

  async #send(group: readonly Waiting[]): Promise<void> {
    this.#underWay++
    let counts = true
    const leave = () => {
      if (counts) this.#underWay--
      counts = false
      if (this.#waiting.length > 0) this.#schedule()
    }
    const slow = setTimeout(leave, SLOW_MS)
    const [first] = group
    if (first && group.length === 1) await this.#ways.alone(first.operation).then(first.resolve, first.reject)
    else await this.#together(group)
    clearTimeout(slow)
    leave()
  }

  async #together(group: readonly Waiting[]): Promise<void> {
    try {
      const committed = await this.#ways.together(group.map(({ operation }) => operation))
      group.forEach(({ operation, resolve }, index) => {
        const done = committed[index]
        resolve(done ? { ok: true, committed: done } : this.#ways.alone(operation))
      })
    } catch (error) {
      const refused = this.#ways.isRefused(error)
      for (const { operation, resolve, reject } of group) {
        if (refused) resolve(this.#ways.alone(operation))
        else reject(error)
      }
    }
  }
}

/** In characters, of what can be long. */
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
