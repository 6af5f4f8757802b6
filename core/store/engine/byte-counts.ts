/** A table whose rows count towards the storage of a person. */
export interface CountedTable {
  readonly table: string
  /** The column that says whose a row is. */
  readonly column: string
  readonly names: "person id" | "person key" | "conversation key"
  /** Columns of text or bytes: as many bytes as each holds. */
  readonly texts: readonly string[]
  /** A column with a number of bytes that are stored in another table or in a file. */
  readonly sized?: string
  /** What a row takes besides its texts: numbers, the entries of indexes, and small rows that are written with it. */
  readonly base?: number
  /**
   * Which statements the database refuses if the person has more than `storage_limit` afterwards: those that add rows, or also
   * those that make rows longer. Without it none, because what is recorded there must never be refused.
   */
  readonly refuses?: "rows" | "growth"
}

/** What the database says if it refuses a statement for that. */
export const STORAGE_FULL = "storage_full"

/** How an engine counts the bytes of tables in `storage_use`, in the transaction of each change. */
export interface ByteCounts {
  readonly makeTables: readonly string[]
  /** Creates the triggers that count a table. */
  triggers(table: CountedTable): string[]
  /** Drops them if they exist. */
  dropTriggers(table: string): string[]
  /** Written after an `INSERT INTO storage_use … SELECT … WHERE …`, so that it adds to what is counted already. */
  readonly adds: string
  /** Makes one row of many for a person, which is `?` twice. Only where changes are added as rows. */
  readonly compact?: string
}

const BASE = 100

/** SQL that is true if this person has more than the limit. No limit is none that anybody has more than. */
export const isOverLimit = (person: string): string =>
  `(SELECT sum(bytes) FROM storage_use WHERE person = ${person}) > (SELECT bytes FROM storage_limit)`

/** SQL for the bytes of a row. */
export const rowBytes = ({ texts, sized, base = BASE }: CountedTable, row: string): string =>
  [
    String(base),
    ...texts.map((column) => `coalesce(octet_length(${row}.${column}), 0)`),
    ...(sized === undefined ? [] : [`coalesce(${row}.${sized}, 0)`]),
  ].join(" + ")

/** SQL for the id of the person whose row it is; NULL if it is nobody's. */
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
 * Adds the difference between the rows of a table and what is counted of it. Reading both in one statement makes it exact
 * while others write: a change and its count become visible together. Counts what was there before the triggers were.
 */
export function recount(table: CountedTable, adds: string): string {
  const counted = `SELECT ${ownerOf(table, "counted")} AS person, counted.bytes FROM (SELECT ${table.column},
      sum(${rowBytes(table, table.table)}) AS bytes FROM ${table.table} GROUP BY ${table.column}) AS counted
    UNION ALL SELECT person, -bytes FROM storage_use WHERE source = '${table.table}'`
  return `INSERT INTO storage_use (person, source, bytes) SELECT person, '${table.table}', sum(bytes)
    FROM (${counted}) AS compared WHERE person IS NOT NULL GROUP BY person HAVING sum(bytes) <> 0 ${adds}`
}
