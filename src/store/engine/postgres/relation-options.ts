/** Options of a table or a view as PostgreSQL keeps them (`fillfactor=90`), in the words that make another with the same. */
export function withOptions(options: readonly string[] | null | undefined): string {
  if (!options?.length) return ""
  return `WITH (${options.map((each) => `${each.replace("=", "='")}'`).join(", ")})`
}
