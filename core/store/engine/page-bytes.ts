import { MAX_PAGE_BYTES } from "../../protocol/requests.ts"
import type { Engine } from "./engine.ts"

interface Weighed {
  readonly bytes: number | null
}

/** Of stored text that one page reads, where it is more than it shows: several rows may stand in one event. */
export const MAX_LIST_READ_BYTES = 4 * 1024 * 1024

/**
 * How many bytes these columns hold, as SQL; known to a database without reading them. `bytes` and numbers are counted too,
 * which only SQLite does by itself.
 */
export function bytesOf({ name }: Pick<Engine, "name">, columns: readonly string[]): string {
  const one = (column: string) => (name === "sqlite" ? column : `CAST(${column} AS TEXT)`)
  return columns.map((column) => `coalesce(octet_length(${one(column)}), 0)`).join(" + ")
}

/** The first rows that fit into a page; at least one, so that whoever asks gets on. */
export function fittingRows<Row extends Weighed>(rows: readonly Row[], most = MAX_PAGE_BYTES): Row[] {
  let left = most
  const end = rows.findIndex(({ bytes }, place) => (left -= Number(bytes ?? 0)) < 0 && place > 0 && bytes !== 0)
  return rows.slice(0, end < 0 ? rows.length : end)
}
