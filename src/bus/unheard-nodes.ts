import type { Log } from "../agent/ports.ts"

/** A node that has just started, or has just died, is not heard for a moment, and nobody has to do anything about it. */
const PATIENCE_MS = 15_000

const PROBLEM =
  "these nodes are alive and not heard on NATS: what happens there is seen up to two seconds later. " +
  "NATS_URL or PAWL_CLUSTER may differ there; `pawl doctor` says more"

/** Which of the nodes that are alive are not heard, though NATS is there: they have another one, another name, or none. */
export class UnheardNodes {
  readonly #log: Log
  readonly #since = new Map<string, number>()
  #names: readonly string[] = []

  constructor(log: Log) {
    this.#log = log
  }

  /** Some are, and have been for a while. */
  get any(): boolean {
    return this.#names.length > 0
  }

  /** Those that are not heard now. Says in the log when some begin to be missed, and when all are heard again. */
  look(unheard: readonly string[], now: number): void {
    for (const node of this.#since.keys()) if (!unheard.includes(node)) this.#since.delete(node)
    for (const node of unheard) if (!this.#since.has(node)) this.#since.set(node, now)
    const names = unheard.filter((node) => now - (this.#since.get(node) ?? now) >= PATIENCE_MS)
    const before = this.#names
    this.#names = names
    if (names.some((node) => !before.includes(node))) this.#log.warn("bus_partial", { nodes: names, problem: PROBLEM })
    else if (before.length > 0 && names.length === 0) this.#log.info("bus_whole", {})
  }
}
