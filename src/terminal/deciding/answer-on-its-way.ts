import { hasCode } from "../../protocol/errors.ts"
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

  /** `conversation`: in which it is given, whatever is looked at when it ends. `answer`: whether it changes what waits. */
  async send(conversation: { readonly waiting: readonly Proposal[] }, answer: Promise<boolean>): Promise<void> {
    const { waiting } = conversation
    this.#to = waiting
    let changes = false
    try {
      changes = await answer
    } catch (error) {
      // The server answers when the run rests, and not every proxy waits so long: that it has counted is seen by what waits.
      changes = hasCode(error, "unreachable") && !waiting.every((one) => conversation.waiting.includes(one))
      if (!changes) throw error
    } finally {
      if (!changes && this.#to === waiting) this.#to = []
    }
  }
}
