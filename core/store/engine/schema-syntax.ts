import type { ByteCounts } from "./byte-counts.ts"

/** A table that PostgreSQL divides into partitions by ranges of a growing key. */
export interface PartitionedTable {
  readonly name: string
  /** The column that the ranges refer to. */
  readonly key: string
  /** The column whose sequence assigns the key. */
  readonly counted: { readonly table: string; readonly column: string }
  /** The unique index of every partition. PostgreSQL requires that it contains the key. */
  readonly unique: { readonly name: string; readonly columns: readonly string[] }
  /** How many keys a partition holds. */
  readonly size: number
}

/**
 * Partitioned by conversation, because every query reads the events of one. Keys grow over time, so a range of keys is
 * also a period.
 * 2^22 conversations with ten rows of a kilobyte are about 40 GB, which can be vacuumed or moved in an hour.
 */
export const partitionedEvent: PartitionedTable = {
  name: "event",
  key: "conversation",
  counted: { table: "conversation", column: "key" },
  unique: { name: "event_place", columns: ["conversation", "position"] },
  size: 2 ** 22,
}

/** `event_3` starts at three times the size. */
export const partitionName = ({ name }: PartitionedTable, range: number): string => `${name}_${range}`

/** The default partition, so that no write is ever refused. */
export const defaultPartitionName = ({ name }: PartitionedTable): string => `${name}_rest`

export const rangeOf = ({ size }: PartitionedTable, key: number): number => Math.floor(key / size)

/** An index on an existing table. After a crash it is built again, so it is identified by its name. */
export interface NewIndex {
  readonly name: string
  readonly table: string
  /** The SQL after the table: columns in brackets, and an optional condition. */
  readonly over: string
  readonly unique?: true
}

/** `how`: a keyword of an engine that can build it while others write. */
export function toIndexStatement({ name, table, over, unique }: NewIndex, how = ""): string {
  return `CREATE ${unique ? "UNIQUE " : ""}INDEX ${how} IF NOT EXISTS ${name} ON ${table} ${over}`
}

/** The parts of a schema on which the two engines differ. */
export interface SchemaSyntax {
  /** The type of an automatically assigned key. */
  readonly serialKey: string
  /** Appended to a table that is stored in the order of its primary key, if the engine can do that. */
  readonly clustered: string
  /** Written before `TABLE` if the table may be empty after a crash, which is cheaper on some engines. */
  readonly unlogged: string
  readonly bytes: string
  /** Stores the values of a column uncompressed. */
  uncompressed(table: string, column: string): string[]
  /** Partitions a table, if the engine has partitions: `by` is appended to its columns, `first` creates partitions. */
  readonly partition: { by(table: PartitionedTable): string; first(table: PartitionedTable): string[] }
  /** Creates and maintains the full-text indexes of the table `passage`. */
  readonly fullText: readonly string[]
  /** Counts the bytes of people's rows. */
  readonly byteCounts: ByteCounts
}
