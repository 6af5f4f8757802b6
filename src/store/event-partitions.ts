import type { Log } from "../agent/ports.ts"
import type { Engine } from "./engine/engine.ts"
import { partitionedEvent } from "./engine/partitioned.ts"
import { LOCK_MS } from "./migrations/migrate.ts"

/**
 * The parts of the table of events, looked after for as long as a store is open. Nobody needs them: where they cannot be
 * made events have a place all the same. So whatever fails is told, once until something else is the matter.
 */
export class EventPartitions {
  readonly #engine: Engine
  readonly #log: Log | undefined
  #told: string | undefined

  constructor(engine: Engine, log: Log | undefined) {
    this.#engine = engine
    this.#log = log
  }

  /** Makes what is missing. Never rejects. */
  async add(): Promise<void> {
    try {
      this.#tellViews(await this.#engine.partition(partitionedEvent, LOCK_MS))
    } catch (error) {
      this.tellFailure(error)
    }
  }

  tellFailure(error: unknown): void {
    if (this.#isNew(String(error))) this.#log?.warn("partitions_not_added", { problem: NOT_ADDED, error })
  }

  #tellViews(views: readonly string[]): void {
    if (!this.#isNew(views.join(", ")) || views.length === 0) return
    this.#log?.warn("views_read_first_part", { table: partitionedEvent.name, views, problem: VIEWS })
  }

  #isNew(problem: string): boolean {
    const isNew = this.#told !== problem
    this.#told = problem
    return isNew
  }
}

const NOT_ADDED =
  "events are kept as they were, and nothing else is amiss. It is tried again every hour and at each start; docs/scale.md, Years of events"
const VIEWS =
  "these views were made by another role, or cannot be replaced: they read the first part of the table only. Make them anew"
