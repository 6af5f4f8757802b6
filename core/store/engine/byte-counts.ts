/** A table whose rows count towards a person's storage. */
export interface CountedTable {
  readonly table: string
  /** The column that identifies the person of a row. */
  readonly column: string
  readonly names: "person id" | "person key" | "conversation key"
  /** Columns of text or bytes, whose lengths are added up. */
  readonly texts: readonly string[]
  /** A column with the size of something that is stored in another table or in a file. */
  readonly sized?: string
  /** The bytes of a row besides its texts: numbers, index entries, and small rows that are written with it. */
  readonly base?: number
  /**
   * Which statements the database refuses if they would exceed `storage_limit`: those that add rows, or also those that
   * make rows longer. None if it is absent, because such records must never be refused.
   */
  readonly refuses?: "rows" | "growth"
}

/** The error message of the triggers. */
export const STORAGE_FULL = "storage_full"

/** Counts the bytes of tables in `storage_use`, in the transaction of each change. */
export interface ByteCounts {
  readonly makeTables: readonly string[]
  triggers(table: CountedTable): string[]
  dropTriggers(table: string): string[]
  /** Appended to an `INSERT INTO storage_use … SELECT … WHERE …`, so that it adds to the existing count. */
  readonly adds: string
  /** Merges the rows of a person, who is passed twice. Only for an engine that adds a row per change. */
  readonly compact?: string
}

const BASE = 100

/** SQL that is true if this person exceeds the limit. Without a limit, it is never true. */
export const isOverLimit = (person: string): string =>
  `(SELECT sum(bytes) FROM storage_use WHERE person = ${person}) > (SELECT bytes FROM storage_limit)`

export const rowBytes = ({ texts, sized, base = BASE }: CountedTable, row: string): string =>
  [
    String(base),
    ...texts.map((column) => `coalesce(octet_length(${row}.${column}), 0)`),
    ...(sized === undefined ? [] : [`coalesce(${row}.${sized}, 0)`]),
  ].join(" + ")

/** SQL for the id of the person whose row it is; NULL if there is none. */
export function ownerOf({ column, names }: Pick<CountedTable, "column" | "names">, row: string): string {
  switch (names) {
    case "person id":
      return `${row}.${column}`
    case "person key":
      return `(SELECT id FROM person WHERE key = ${row}.${column})`
    case "conversation key":
      return `(SELECT person.id FROM conversation JOIN person ON person.key = conversation.person WHERE conversation.key = ${row}.${column})`
  }
}

/**
 * Adds the difference between a table's rows and its count. One statement reads both, so it is exact while others
 * write. Counts rows from before the triggers existed.
 */
export function recount(table: CountedTable, adds: string): string {
  const counted = `SELECT ${ownerOf(table, "counted")} AS person, counted.bytes FROM (SELECT ${table.column},
      sum(${rowBytes(table, table.table)}) AS bytes FROM ${table.table} GROUP BY ${table.column}) AS counted
    UNION ALL SELECT person, -bytes FROM storage_use WHERE source = '${table.table}'`
  return `INSERT INTO storage_use (person, source, bytes) SELECT person, '${table.table}', sum(bytes)
    FROM (${counted}) AS compared WHERE person IS NOT NULL GROUP BY person HAVING sum(bytes) <> 0 ${adds}`
}
