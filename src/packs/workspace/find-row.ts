import { failure } from "../../protocol/errors.ts"
import { type TableName, workspaceTables } from "../../protocol/workspace-tables.ts"
import type { Desk, Row } from "./desk.ts"

const LONGEST_ID = 200
const MOST_NAMED = 10

/** The column that people know a row by, where its table has one. */
export function nameColumn(table: TableName): "title" | "name" | undefined {
  const { shape } = workspaceTables[table].row
  return "title" in shape ? "title" : "name" in shape ? "name" : undefined
}

/** By id, or by a name that one row has and no other. It never guesses: two of a name are an error that lists their ids. */
export async function findRow(desk: Desk, table: TableName, said: string): Promise<Row> {
  const row = (await byId(desk, table, said)) ?? (await byName(desk, table, said))
  const column = nameColumn(table)
  if (column) desk.names.set(String(row.id), String(row[column]))
  return row
}

async function byId({ workspace }: Desk, table: TableName, said: string): Promise<Row | undefined> {
  return said.length > LONGEST_ID ? undefined : ((await workspace.get(table, said)) as Row | undefined)
}

async function byName({ workspace }: Desk, table: TableName, said: string): Promise<Row> {
  const { noun, hides } = workspaceTables[table]
  const column = nameColumn(table)
  const filters = { search: said.trim(), ...(hides ? { includeArchived: true } : {}) }
  const found = column ? ((await workspace.select(table, filters)) as readonly Row[]) : []
  const plain = (text: unknown) => String(text).trim().toLowerCase()
  const alike = found.filter((row) => column && plain(row[column]) === plain(said))
  const exact = alike.filter((row) => column && String(row[column]).trim() === said.trim())
  const [only, ...others] = exact.length === 1 ? exact : alike
  if (!only) throw failure("row_missing", { noun, id: JSON.stringify(said.slice(0, LONGEST_ID)) })
  if (others.length === 0) return only
  const ids = [only, ...others].slice(0, MOST_NAMED).map(({ id }) => id)
  const problem = `${1 + others.length} ${noun}s are called "${said}"; say which by its id: ${ids.join(", ")}`
  throw failure("bad_request", { problem })
}
