import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import type { KnownTable, Row } from "./known-tables.ts"
import { parseInput } from "./read-input.ts"

/** Which part of a list is requested: the number of rows, the cursor and the columns. */
export interface PageSelection {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly columns?: readonly string[] | undefined
}

export interface RowPage {
  readonly rows: Row[]
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string
  /** How many rows there are on all pages. */
  readonly total: number
}

/** Returns the requested rows that fit into `mostBytes`; at least one, so that the client makes progress. */
export function toRowPage(table: KnownTable, rows: readonly Row[], wanted: PageSelection, mostBytes: number): RowPage {
  const { limit = rows.length, after, columns } = parseInput(WantedSchema, wanted, "A page")
  const strange = columns?.find((column) => !table.columns.includes(column))
  if (strange !== undefined) throw failure("bad_request", { problem: `${table.name} have no column "${strange}".` })
  const from = after === undefined ? 0 : placeOf(rows, after)
  const page: Row[] = []
  let bytes = 0
  for (const row of rows.slice(from, from + limit)) {
    const cut = columns ? only(row, columns) : row
    bytes += Buffer.byteLength(JSON.stringify(cut)) + 1
    if (bytes > mostBytes && page.length > 0) break
    page.push(cut)
  }
  const given = from + page.length
  const last = rows[given - 1]
  const next = last && given < rows.length ? { next: `${given}/${rows.length} ${String(last.id)}` } : {}
  return { rows: page, ...next, total: rows.length }
}

/**
 * The index after the last row of the previous page. If rows were added or deleted since, a page may repeat rows rather
 * than skip some: clients know them by their ids.
 */
function placeOf(rows: readonly Row[], after: string): number {
  const [, count = "", of = "", id = ""] = /^(\d{1,9})\/(\d{1,9}) (.+)$/s.exec(after) ?? []
  if (!id) throw failure("bad_request", { problem: "A page begins after the `next` of the page before." })
  const given = Number(count)
  if (rows[given - 1]?.id === id) return given
  // All deleted rows may have been before this index.
  const back = Math.max(0, given - Math.max(1, Number(of) - rows.length))
  const found = rows.findIndex((row) => row.id === id)
  return found < 0 ? back : Math.min(found + 1, back)
}

function only(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => column === "id" || columns.includes(column)))
}

const WantedSchema = z.object({
  limit: z.number().int().min(1).max(100_000).optional(),
  after: z.string().max(1000).optional(),
  columns: z.array(z.string().max(100)).max(100).optional(),
})
