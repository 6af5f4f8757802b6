import type { Proposal } from "../../protocol/proposals/proposal.ts"

/** `here`: under what waits now. `before`: when nothing waited. `under-others`: what waited then is not what waits now. */
export type Begun = "here" | "before" | "under-others"

/** When the words in the editor were begun: they can only answer what was on the screen then. */
export class WordsBegun {
  when: Begun = "here"
  #waiting: readonly string[] = []

  /**
   * What is drawn now. Whatever stands in another place counts as another: after `yes 1` was begun the first may have been
   * decided elsewhere, and within one picture all of it may have been replaced.
   */
  draws(waiting: readonly Proposal[], words: string): void {
    const before = this.#waiting
    this.#waiting = waiting.map(({ id, hash }) => `${id} ${hash}`)
    if (words === "") this.when = "here"
    else if (before.length === 0 && waiting.length > 0) this.when = "before"
    else if (this.when === "here" && this.#waiting.some((each, place) => each !== before[place]))
      this.when = "under-others"
  }
}
