import type { Log } from "../shared/log.ts"
import type { Engine } from "./engine/engine.ts"
import { partitionedEvent } from "./engine/schema-syntax.ts"
import { LOCK_MS } from "./schema/migrate.ts"

/**
 * Adds partitions of the table of events while a store is open. Nothing depends on them: without a partition, events go to
 * `event_rest`. So a failure is only logged, once until the problem changes.
 */
export class EventPartitions {
  readonly #engine: Engine
  readonly #log: Log | undefined
  #problem: string | undefined

  constructor(engine: Engine, log: Log | undefined) {
    this.#engine = engine
    this.#log = log
  }

  /** Adds the next partition if it is missing. Never rejects. */
  async add(): Promise<void> {
    try {
      await this.#engine.addPartition(partitionedEvent, LOCK_MS)
      this.#problem = undefined
    } catch (error) {
      if (this.#problem !== String(error)) this.#log?.warn("partitions_not_added", { problem: NOT_ADDED, error })
      this.#problem = String(error)
    }
  }
}

const NOT_ADDED =
  "events are stored as before, and everything else works. This is retried every hour and at each start; see docs/recipes/manage-event-partitions.md"
