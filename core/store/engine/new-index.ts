/** An index on a table that exists. Building it is begun anew after a crash, so it is known by its name. */
export interface NewIndex {
  readonly name: string
  readonly table: string
  /** What stands behind the table: columns in brackets, and a condition if there is one. */
  readonly over: string
  readonly unique?: true
}

/** `how` is the word of an engine that can build it while others write. */
export function toIndexStatement({ name, table, over, unique }: NewIndex, how = ""): string {
  return `CREATE ${unique ? "UNIQUE " : ""}INDEX ${how} IF NOT EXISTS ${name} ON ${table} ${over}`
}
