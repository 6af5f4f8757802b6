import { MAX_PAGE_BYTES } from "../../protocol/requests.ts"
import type { Engine } from "./engine.ts"

interface SizedRow {
  readonly bytes: number | null
}

/** A limit on stored text that one page reads, if it reads more than it shows. */
export const MAX_LIST_READ_BYTES = 4 * 1024 * 1024

/**
 * SQL for the bytes in these columns, which a database knows without reading them. The cast makes PostgreSQL accept
 * `bytea` and numbers; SQLite needs none.
 */
export function bytesOf({ name }: Pick<Engine, "name">, columns: readonly string[]): string {
  const one = (column: string) => (name === "sqlite" ? column : `CAST(${column} AS TEXT)`)
  return columns.map((column) => `coalesce(octet_length(${one(column)}), 0)`).join(" + ")
}

/** The first rows that fit into a page; at least one, so that paging makes progress. */
export function fittingRows<Row extends SizedRow>(rows: readonly Row[], most = MAX_PAGE_BYTES): Row[] {
  let left = most
  const end = rows.findIndex(({ bytes }, place) => (left -= Number(bytes ?? 0)) < 0 && place > 0 && bytes !== 0)
  return rows.slice(0, end < 0 ? rows.length : end)
}
