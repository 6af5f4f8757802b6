import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Contender, OpenOptions, Variant } from "../contender.ts"
import { createFloor, type Row, type Rows } from "./floor-loop.ts"

/** The floor on SQLite, with Node's own driver. */
export async function openFloorSqlite(variant: Variant, { place }: OpenOptions): Promise<Contender> {
  const db = new DatabaseSync(join(place.folder, "floor.db"))
  db.exec("PRAGMA journal_mode = WAL")
  db.exec(`PRAGMA synchronous = ${variant.durability.toUpperCase()}`)
  // An append-only table with one index: of the tried layouts, the fewest bytes per row if many conversations
  // interleave.
  db.exec(
    "CREATE TABLE IF NOT EXISTS msg (id INTEGER PRIMARY KEY, conv TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL)",
  )
  db.exec("CREATE UNIQUE INDEX IF NOT EXISTS msg_place ON msg (conv, seq)")
  const rows = variant.group ? groupedRows(db) : plainRows(db)
  return createFloor(rows, { hot: !variant.reload, looksFirst: true })
}

const INSERT = "INSERT INTO msg (conv, seq, body) VALUES (?, ?, ?)"

function plainRows(db: DatabaseSync): Rows {
  const insert = db.prepare(INSERT)
  const select = db.prepare("SELECT body FROM msg WHERE conv = ? ORDER BY seq")
  select.setReturnArrays(true)
  return {
    append: (id, place, row) => void insert.run(id, place, JSON.stringify(row)),
    read: (id) => (select.all(id) as unknown as [string][]).map(([body]) => JSON.parse(body) as Row),
    close: () => db.close(),
  }
}

/** Rows queued during one turn of the event loop share a commit, after which their writers continue. */
function groupedRows(db: DatabaseSync): Rows {
  const insert = db.prepare(INSERT)
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")]
  let waiting: { readonly values: [string, number, string]; resolve(): void }[] = []
  const flush = () => {
    const batch = waiting
    waiting = []
    begin.run()
    for (const { values } of batch) insert.run(...values)
    commit.run()
    for (const { resolve } of batch) resolve()
  }
  return {
    ...plainRows(db),
    append: (id, place, row) =>
      new Promise<void>((resolve) => {
        waiting.push({ values: [id, place, JSON.stringify(row)], resolve })
        if (waiting.length === 1) setImmediate(flush)
      }),
  }
}
