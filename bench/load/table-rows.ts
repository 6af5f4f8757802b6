import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

/** Tables that grow with each turn or conversation, and those of the search index. */
const GROWS = /^(conversation|event|run|usage|kept_fold|passage_(words|grams).*|sqlite_.*)$/

/**
 * The rows of every table that should not grow with turns, by name. Counted in another process, so that the server is
 * not blocked.
 */
export function rowsThatShouldNotGrow(file: string): Record<string, number> {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
  const counted = tables
    .filter(({ name }) => !GROWS.test(name))
    .map(({ name }) => {
      const { rows } = database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get() as { rows: number }
      return [name, rows] as const
    })
  database.close()
  return Object.fromEntries(counted)
}

/** The size of SQLite's write-ahead log in megabytes. */
export const writtenAheadMb = (file: string): number =>
  (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20
