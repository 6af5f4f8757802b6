import type { StatementSync } from "node:sqlite"
import type { QueryLimits } from "../database/sql-guards.ts"
import type { SqliteOutcome } from "./job.ts"
import { type SqliteValue, toWire, toColumns } from "./values.ts"

/** Reads as many rows as the limits allow. */
export function readRows(statement: StatementSync, { rows: mostRows, bytes: mostBytes }: QueryLimits): SqliteOutcome {
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  const rows: unknown[][] = []
  let first: SqliteValue[] | undefined
  let bytes = 0
  let truncated = false
  for (const each of statement.iterate()) {
    const values = each as unknown as SqliteValue[]
    first ??= values
    const row = values.map(toWire)
    bytes += Buffer.byteLength(JSON.stringify(row))
    truncated = rows.length >= mostRows || bytes > mostBytes
    if (truncated) break
    rows.push(row)
  }
  // Without any row it would look like an empty result.
  if (truncated && rows.length === 0) return { type: "too_large" }
  return { type: "answer", answer: { columns: toColumns(statement.columns(), first), rows, truncated } }
}
