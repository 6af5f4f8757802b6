import { type Clock, sleep } from "../shared/time/clock.ts"
import { failure } from "../protocol/errors.ts"
import type { Engine } from "./engine/engine.ts"
import type { ThisNode } from "./journal/nodes.ts"

/** A store that has not answered by then does not serve. */
const PATIENCE_MS = 5000

export interface Ready {
  /** What is set in a way that breaks a promise, though everything works. */
  readonly warnings: readonly string[]
}

/** Whether the store takes what it is given, found out by writing: that it can be read says little. */
export class Readiness {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #clock: Clock
  /** Everyone who asks at the same time shares one answer: nobody outside can have the disk written to as often as they like. */
  #asking: Promise<Ready> | undefined

  constructor(engine: Engine, node: ThisNode, clock: Clock) {
    this.#engine = engine
    this.#node = node
    this.#clock = clock
  }

  check(): Promise<Ready> {
    return (this.#asking ??= this.#soon().finally(() => (this.#asking = undefined)))
  }

  async #soon(): Promise<Ready> {
    const found = this.#find()
    const answered = new AbortController()
    const late = sleep(this.#clock, PATIENCE_MS, answered.signal).then(() => undefined)
    try {
      const ready = await Promise.race([found, late])
      if (!ready) throw failure("store_unavailable", { problem: "the database does not answer" })
      return ready
    } finally {
      answered.abort()
      found.catch(() => {}) // told already, or too late
    }
  }

  async #find(): Promise<Ready> {
    this.#engine.broken.throwIfAborted()
    await this.#node.heartbeat()
    await this.#engine.room()
    return { warnings: await this.#engine.weaknesses() }
  }
}
