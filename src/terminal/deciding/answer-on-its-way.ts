import type { Proposal } from "../../protocol/proposals/proposal.ts"

/**
 * One answer at a time: the next one is taken when this one has changed what waits here too, or has changed nothing. What
 * comes up meanwhile is answered by itself.
 */
export class AnswerOnItsWay {
  #to: readonly Proposal[] = []

  /** Whether it is to the very same: what was tried again and is in doubt again is another one. */
  isTo(waiting: readonly Proposal[]): boolean {
    return this.#to.length === waiting.length && this.#to.every((one, place) => one === waiting[place])
  }

  /** `answer`: whether it changes what waits. */
  async send(waiting: readonly Proposal[], answer: Promise<boolean>): Promise<void> {
    this.#to = waiting
    let changes = false
    try {
      changes = await answer
    } finally {
      if (!changes && this.#to === waiting) this.#to = []
    }
  }
}
