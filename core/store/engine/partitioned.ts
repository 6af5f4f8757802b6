/** A table that PostgreSQL keeps in parts, each a table of its own, by ranges of a key that only grows. */
export interface PartitionedTable {
  readonly name: string
  /** The column whose ranges the parts are. */
  readonly key: string
  /** Where the values of the key are counted up. */
  readonly counted: { readonly table: string; readonly column: string }
  /** The unique index that every part has: its key is in it, as PostgreSQL demands. */
  readonly unique: { readonly name: string; readonly columns: readonly string[] }
  /** How many values of the key a part holds. */
  readonly size: number
}

/**
 * By conversation, because everything asks for the events of one; their keys grow with time, so a range is also a time.
 * 2^22 of them: at a thousand bytes a row and ten rows each some 40 GB, which can still be vacuumed and moved in an hour.
 */
export const partitionedEvent: PartitionedTable = {
  name: "event",
  key: "conversation",
  counted: { table: "conversation", column: "key" },
  unique: { name: "event_place", columns: ["conversation", "position"] },
  size: 2 ** 22,
}

/** `event_3` for the range that begins at three times the size. */
export const partName = ({ name }: PartitionedTable, range: number): string => `${name}_${range}`

/** Takes what no part was made for, so that nothing that is written is ever refused. */
export const restName = ({ name }: PartitionedTable): string => `${name}_rest`

export const rangeOf = ({ size }: PartitionedTable, key: number): number => Math.floor(key / size)
