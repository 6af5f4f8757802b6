/** Numbers between two times that a reply begins anew: more than a reply has characters. */
const ROOM = 2 ** 26
/** Events that close what is taken back. */
const CLOSING = 3

/**
 * The numbers of a response's events. They follow from the journal alone, however the text came in pieces: each event
 * counts one, and text as many as it has characters. So whoever was told up to a number can be told on from there.
 *
 * What is taken back is not in the journal, so what follows it is counted anew, from a round number; the events that close
 * it have the last ones before that.
 */
export class EventNumbers {
  #last = -1
  #takenBack = 0

  next(length = 1): number {
    return (this.#last += length)
  }

  /** What was told last does not count; the events that close it follow, unless nothing is open. */
  takeBack({ closes }: { readonly closes: boolean }): void {
    this.#takenBack++
    this.#last = this.#takenBack * ROOM - (closes ? CLOSING : 0) - 1
  }
}
