import type { Journal } from "../../../core/engine/journal.ts"
import { Died } from "./faults.ts"

const WRITES = new Set<PropertyKey>(["create", "claim", "append", "arrive", "release"])

/** A process that can be killed at any moment: its later writes do not reach the disk. */
export class Mortal {
  dead = false

  /** Wraps the runtime's journal. */
  readonly between = (journal: Journal): Journal =>
    new Proxy(journal, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== "function") return value
        const method = value.bind(target) as (...given: unknown[]) => unknown
        return WRITES.has(name) ? (...given: unknown[]) => this.#ifAlive(() => method(...given)) : method
      },
    })

  kill(): void {
    this.dead = true
  }

  async #ifAlive(write: () => unknown): Promise<unknown> {
    if (this.dead) throw new Died("dead")
    return write()
  }
}
