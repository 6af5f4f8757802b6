import { partitionedEvent } from "../../engine/partitioned.ts"
import type { Migration } from "../migration.ts"

/** Years of events can be vacuumed, moved and dropped a range at a time: docs/decisions/052-partitions-of-events.md. */
export const eventPartitions: Migration = { name: "040_event_partitions", partition: partitionedEvent }
