import type { ByteCounts } from "./byte-counts.ts"
import type { PartitionedTable } from "./partitioned.ts"

/** The parts of a schema on which the two engines differ. */
export interface SchemaSyntax {
  /** A key that the database counts up. */
  readonly serialKey: string
  /** Written after a table that is stored in the order of its primary key, if the engine can do that. */
  readonly clustered: string
  /** Written before `TABLE` if the table may be empty after a crash and the engine then writes it more cheaply. */
  readonly unlogged: string
  /** The type of a column of bytes. */
  readonly bytes: string
  /** Stores the values of a column as they are, if the engine would otherwise compress each of them. */
  uncompressed(table: string, column: string): string[]
  /** Makes a table one of partitions, if the engine has them: `by` is written after its columns, `first` makes partitions. */
  readonly partition: { by(table: PartitionedTable): string; first(table: PartitionedTable): string[] }
  /** Indexes the words and the grams of the table `passage`, and updates the index with every change. */
  readonly fullText: readonly string[]
  /** Counts the bytes of people's rows. */
  readonly byteCounts: ByteCounts
}
