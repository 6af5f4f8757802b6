import { AsyncLocalStorage } from "node:async_hooks"

/** What a server is told that has asked. `cancel`: nobody has said anything. */
export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Record<string, string | number | boolean | string[]>
}

/** A call in whose name a server may ask. */
export interface QuestioningCall {
  readonly conversation: string
  /** Puts what it asks to the person of the call. */
  ask(asked: unknown): Promise<GivenAnswer>
}

/**
 * Finds the call in which a server asks something. What it says over the stream of a call is of that call. What it says
 * elsewhere is of the newest that is at work, as long as all are of one conversation; where they are not nobody is asked.
 */
export class QuestioningCalls {
  readonly #streams = new AsyncLocalStorage<QuestioningCall>()
  readonly #atWork = new Set<QuestioningCall>()

  async during<T>(asking: QuestioningCall, work: () => Promise<T>): Promise<T> {
    this.#atWork.add(asking)
    try {
      return await this.#streams.run(asking, work)
    } finally {
      this.#atWork.delete(asking)
    }
  }

  async answer(asked: unknown): Promise<GivenAnswer> {
    const here = this.#streams.getStore()
    const asking = here && this.#atWork.has(here) ? here : this.#newest()
    return asking ? asking.ask(asked) : { action: "cancel" }
  }

  #newest(): QuestioningCall | undefined {
    const calls = [...this.#atWork]
    return new Set(calls.map(({ conversation }) => conversation)).size === 1 ? calls.at(-1) : undefined
  }
}
