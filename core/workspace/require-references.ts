import { failure } from "../protocol/errors.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { findByIds, findRow } from "./find-rows.ts"
import { readTable, type Row, type Rows } from "./known-tables.ts"
import type { Layout } from "./layout.ts"
import type { Steps } from "./steps.ts"

/**
 * Refuses rows that refer to a row which neither exists nor is in `coming`. Rows of other users do not count. Also refuses
 * a row that would be its own parent, at any depth.
 */
export function* requireReferences(layout: Layout, coming: Rows): Steps<void> {
  const entries = Object.entries(coming) as [TableName, readonly Row[]][]
  const comes = new Map(entries.flatMap(([name, rows]) => rows.map((row) => [`${name} ${row.id}`, row] as const)))
  for (const [name, rows] of entries) {
    for (const [column, { table }] of Object.entries(readTable(name).references)) {
      const named = rows.flatMap((row) => (row[column] == null ? [] : [String(row[column])]))
      const ids = [...new Set(named)].filter((id) => !comes.has(`${table} ${id}`))
      const there = new Set((yield* findByIds(layout, table, ids)).map(({ id }) => id))
      const missing = ids.find((id) => !there.has(id))
      if (missing !== undefined)
        throw failure("bad_request", { problem: `There is no ${readTable(table).noun} ${missing}.` })
      const above = new Set<Row[string] | undefined>()
      if (table === name) for (const row of rows) yield* requireNoCircle(layout, { name, column, row, comes, above })
    }
  }
}

interface Line {
  readonly name: TableName
  readonly column: string
  readonly row: Row
  readonly comes: ReadonlyMap<string, Row>
  /** Rows whose chain of parents is known to end, so that each chain is walked once. */
  readonly above: Set<Row[string] | undefined>
}

function* requireNoCircle(layout: Layout, { name, column, row, comes, above }: Line): Steps<void> {
  const seen = new Set([row.id])
  for (let up = row[column]; up != null && !above.has(up);) {
    if (seen.has(up)) {
      const { noun } = readTable(name)
      throw failure("bad_request", { problem: `The ${noun} ${row.id} cannot be a part of itself.` })
    }
    seen.add(up)
    const parent: Row | undefined = comes.get(`${name} ${up}`) ?? (yield* findRow(layout, name, String(up)))
    up = parent?.[column] ?? null
  }
  for (const id of seen) above.add(id)
}
