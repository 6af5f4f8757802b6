import { type Clock, sleep } from "../shared/time/clock.ts"
import { failure } from "../protocol/errors.ts"
import type { Engine } from "./engine/engine.ts"
import type { ThisNode } from "./journal/nodes.ts"

/** A store that takes longer is not ready. */
const TIMEOUT_MS = 5000

export interface Ready {
  /** Settings that break a promise although everything works. */
  readonly warnings: readonly string[]
}

/** Checks that the store accepts writes; reading alone proves little. */
export class Readiness {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #clock: Clock
  /** Concurrent requests share one check, so that requests cannot cause arbitrarily many writes. */
  #checking: Promise<Ready> | undefined

  constructor(engine: Engine, node: ThisNode, clock: Clock) {
    this.#engine = engine
    this.#node = node
    this.#clock = clock
  }

  check(): Promise<Ready> {
    return (this.#checking ??= this.#checkInTime().finally(() => (this.#checking = undefined)))
  }

  async #checkInTime(): Promise<Ready> {
    const checked = this.#check()
    const answered = new AbortController()
    const timeout = sleep(this.#clock, TIMEOUT_MS, answered.signal).then(() => undefined)
    try {
      const ready = await Promise.race([checked, timeout])
      if (!ready) throw failure("store_unavailable", { problem: "the database does not answer" })
      return ready
    } finally {
      answered.abort()
      checked.catch(() => {}) // already reported, or too late
    }
  }

  async #check(): Promise<Ready> {
    this.#engine.broken.throwIfAborted()
    await this.#node.heartbeat()
    await this.#engine.room()
    return { warnings: await this.#engine.weaknesses() }
  }
}
