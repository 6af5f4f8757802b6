import { DatabaseSync } from "node:sqlite"

export interface SqliteSettings {
  readonly file: string
  readonly durability: "full" | "normal"
  /** An open connection to share, for the writer that works on the main thread. */
  readonly connection?: DatabaseSync
}

// Small pages: a commit writes whole pages, and the rows of a turn are small. Measured in bench/.
const PAGE_BYTES = 2048

/** One connection with our settings. */
export function openConnection({ file, durability }: SqliteSettings): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 100 })
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  db.exec("PRAGMA journal_mode = WAL")
  db.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`)
  db.exec("PRAGMA foreign_keys = ON")
  return db
}
