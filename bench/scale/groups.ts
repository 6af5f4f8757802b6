import type { Timeline } from "./events.ts"

/** One that waits to be written: which of a turn's commits it is, and what goes on when it is. */
interface Waiting {
  readonly step: number
  readonly then: () => void
}

/** One statement with so many commits, which are each a turn's so-and-so-manieth. */
type Write = (size: number, step: number, written: () => void) => void

/**
 * How a node writes commits of many conversations (`core/store/engine/postgres/commit-groups.ts`): so many statements under
 * way at once, each with as many commits of the same kind as have come meanwhile. Nobody waits for company; but those whose
 * answer came at once go on at once, and so meet again.
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

  /** When all that happens in this moment has happened. */
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
