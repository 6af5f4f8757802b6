import { Semaphore } from "../../agent/concurrency/semaphore.ts"

/** Short messages that may wait for their turn; more would fill the memory. */
const MAX_WAITING = 16

/** Who speaks over a socket: the frames of an answer do not say whose they are, so one speaks at a time, in order of asking. */
export class SpeakingTurns {
  readonly #turns = new Semaphore(1)
  #waiting = 0

  /** Whether so much waits already that whoever sends more would cost us memory without end. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING
  }

  /** Resolves when the turn has come, with the function that ends it. */
  take(): Promise<() => void> {
    return this.#turns.take()
  }

  /**
   * Says something short when its turn comes. Whoever hears frames in their order does not wait for it: the next one may be
   * the word that stops whoever is speaking.
   */
  async tell(say: () => Promise<void> | void): Promise<void> {
    this.#waiting++
    await this.#turns.run(async () => {
      this.#waiting--
      await say()
    })
  }
}
