import { failure } from "../protocol/errors.ts"
import { newId, type UserId } from "../protocol/ids.ts"
import type { WorkspaceFile } from "../protocol/workspace-file.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { readTable, type Row, type Rows } from "./known-tables.ts"

/**
 * Returns the rows of a file with new ids, so that it can be imported anywhere and repeatedly. Every reference must be
 * inside the file: on another server, an old id means nothing or names another user's row.
 */
export function importedRows(
  { version: _, untrusted = [], ...file }: WorkspaceFile,
  user: UserId | null,
  now: number,
): { readonly rows: Rows; readonly untrusted: readonly string[] } {
  const entries = Object.entries(file) as unknown as [TableName, readonly Row[]][]
  const renamed = new Map<string, string>()
  for (const [name, rows] of entries) {
    const { prefix } = readTable(name)
    for (const { id } of rows) {
      const key = `${name} ${id}`
      if (renamed.has(key)) throw refuse(`${name}: ${id} is there twice.`)
      renamed.set(key, newId(prefix, user, now))
    }
  }
  const rows = entries.map(([name, some]) => [name, some.map((row) => toRenamed(name, row, renamed))])
  const marked = new Set(untrusted)
  const isMarked = (key: string) => marked.has(key.slice(key.indexOf(" ") + 1))
  return {
    rows: Object.fromEntries(rows) as Rows,
    untrusted: [...renamed].flatMap(([key, id]) => (isMarked(key) ? id : [])),
  }
}

function toRenamed(name: TableName, row: Row, renamed: ReadonlyMap<string, string>): Row {
  const links = Object.entries(readTable(name).references).map(([column, { table }]) => {
    const old = row[column] ?? null
    const id = old === null ? null : renamed.get(`${table} ${old}`)
    if (id === undefined)
      throw refuse(`${name}: ${row.id} belongs to the ${readTable(table).noun} ${old}, which is not in the file.`)
    return [column, id]
  })
  return { ...row, id: renamed.get(`${name} ${row.id}`) ?? null, ...(Object.fromEntries(links) as Row) }
}

const refuse = (problem: string) => failure("bad_request", { problem: problem.slice(0, 500) })
