import type { Timeline } from "./events.ts"

/** A commit that waits: its position in the turn, and the continuation. */
interface Waiting {
  readonly step: number
  readonly then: () => void
}

/** Writes one statement with this many commits, all of the same step of a turn. */
type Write = (size: number, step: number, written: () => void) => void

/**
 * Simulates how a node writes commits of many conversations (`core/store/engine/postgres/commit-groups.ts`): a fixed
 * number of statements at a time, each with all commits of the same kind that have arrived in the meantime. Commits
 * never wait for others, but those answered together continue together and so meet again.
 */
export class GroupedCommits {
  readonly #timeline: Timeline
  readonly #limits: { readonly atOnce: number; readonly most: number }
  readonly #write: Write
  #waiting: Waiting[] = []
  #underWay = 0
  #isScheduled = false

  constructor(timeline: Timeline, limits: { readonly atOnce: number; readonly most: number }, write: Write) {
    this.#timeline = timeline
    this.#limits = limits
    this.#write = write
  }

  commit(step: number, then: () => void): void {
    this.#waiting.push({ step, then })
    this.#schedule()
  }

  /** Starts writes after all events of this moment. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#limits.atOnce) return
    this.#isScheduled = true
    this.#timeline.after(0, () => {
      this.#isScheduled = false
      while (this.#waiting.length > 0 && this.#underWay < this.#limits.atOnce) this.#send()
    })
  }

  #send(): void {
    const { step } = this.#waiting[0]!
    const group: Waiting[] = []
    const left: Waiting[] = []
    for (const each of this.#waiting) (each.step === step && group.length < this.#limits.most ? group : left).push(each)
    this.#waiting = left
    this.#underWay++
    this.#write(group.length, step, () => {
      this.#underWay--
      for (const { then } of group) then()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}
