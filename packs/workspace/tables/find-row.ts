import {
  type DeviceFilters,
  failure,
  isRemote,
  type Listing,
  similarName,
  type RowsByTable,
  type TableName,
  type Workspace,
  workspaceTables,
} from "../../../core/pack.ts"
import type { Desk, DeskRow } from "./desk.ts"
import { whichOne } from "../device/malformed-rows.ts"

const NONE: Rows = { rows: [], odd: [] }
const LONGEST_ID = 200
const MAX_NAMED = 10
const MAX_COMPARED = 1000

/** The column with the name of a row; undefined if its table has none. */
export function nameColumn(table: TableName): "title" | "name" | undefined {
  const { shape } = workspaceTables[table].row
  return "title" in shape ? "title" : "name" in shape ? "name" : undefined
}

/** Finds a row by id, or by a name that only one row has. If several have it, throws an error that lists their ids. */
export async function findRowByName(desk: Desk, table: TableName, idOrName: string): Promise<DeskRow> {
  return known(desk, table, (await byId(desk, table, idOrName)) ?? (await byName(desk, table, idOrName)))
}

/** Finds a row with its dependents if the workspace returns both at once; undefined if they must be requested. */
export async function findWithRelated(
  desk: Desk,
  table: TableName,
  idOrName: string,
): Promise<{ row: DeskRow; hanging: RowsByTable | undefined }> {
  const { workspace } = desk
  const whole =
    isRemote(workspace) && idOrName.length <= LONGEST_ID ? await workspace.getWhole(table, idOrName) : undefined
  if (whole?.row) return { row: known(desk, table, whole.row as unknown as DeskRow), hanging: whole.hanging }
  const row = whole
    ? known(desk, table, await byName(desk, table, idOrName))
    : await findRowByName(desk, table, idOrName)
  return { row, hanging: undefined }
}

function known({ names }: Desk, table: TableName, row: DeskRow): DeskRow {
  const column = nameColumn(table)
  if (column) names.set(String(row.id), String(row[column]))
  return row
}

async function byId({ workspace }: Desk, table: TableName, id: string): Promise<DeskRow | undefined> {
  return id.length > LONGEST_ID ? undefined : ((await workspace.get(table, id)) as DeskRow | undefined)
}

async function byName({ workspace }: Desk, table: TableName, name: string): Promise<DeskRow> {
  const { noun } = workspaceTables[table]
  const column = nameColumn(table)
  const { rows, odd, listed } = column
    ? await namedAlike(workspace, { table, column, name })
    : { ...NONE, listed: NONE }
  const exact = rows.filter((row) => column && String(row[column]).trim() === name.trim())
  const [only, ...others] = exact.length === 1 ? exact : rows
  // With a malformed row, the reference is ambiguous.
  const [strange] = odd
  if (strange) {
    const problem = `The ${noun} "${name}" is kept on the device in a way that cannot be read: ${whichOne(strange)}: ${strange.problem}`
    throw failure("bad_request", { problem })
  }
  if (!only) {
    const near = column ? similarName(name, new Set(listed.rows.map((row) => String(row[column])))) : undefined
    const id = JSON.stringify(name.slice(0, LONGEST_ID))
    throw failure("row_missing", { noun, id, ...(near === undefined ? {} : { near }) })
  }
  if (others.length === 0) return isWhole(table, only) ? only : wholeOf(workspace, table, only)
  const ids = [only, ...others].slice(0, MAX_NAMED).map(({ id }) => id)
  const problem = `${1 + others.length} ${noun}s are called "${name}"; say which by its id: ${ids.join(", ")}`
  throw failure("bad_request", { problem })
}

type Rows = Pick<Listing, "rows" | "odd">

/**
 * The rows of that name, readable or not. If there is none, the rows that are compared for a similar name. A device may
 * have no `search`, or a weaker one, so an empty answer proves nothing, and all rows are compared.
 */
async function namedAlike(
  workspace: Workspace,
  { table, column, name }: { table: TableName; column: string; name: string },
): Promise<Rows & { readonly listed: Rows }> {
  const all = workspaceTables[table].hides ? { includeArchived: true } : {}
  const list = (filters: DeviceFilters, most?: number) =>
    workspace.list(table, filters, { columns: [column], ...(most === undefined ? {} : { most }) })
  const isNamed = (value: unknown) => plain(value) === plain(name)
  const alike = ({ rows, odd }: Rows) => ({
    rows: rows.filter((row) => isNamed(row[column])),
    odd: odd.filter(({ name }) => name !== null && isNamed(name)),
  })
  if (isRemote(workspace) && !(await workspace.hasSearch())) {
    const listed = await list(all)
    return { ...alike(listed), listed }
  }
  const found = alike(await list({ ...all, search: name.trim() }))
  if (found.rows.length > 0 || found.odd.length > 0) return { ...found, listed: NONE }
  // The row is reported as missing even if the others cannot be listed.
  const listed = await list(all, MAX_COMPARED).catch(() => NONE)
  return { ...alike(listed), listed }
}

const plain = (text: unknown) => String(text).trim().toLowerCase()

const isWhole = (table: TableName, row: DeskRow) =>
  Object.keys(workspaceTables[table].row.shape).every((name) => name in row)

/** Reads the complete row: the search requested only names, because rows may be long. */
async function wholeOf(workspace: Workspace, table: TableName, { id }: DeskRow): Promise<DeskRow> {
  const row = (await workspace.get(table, String(id))) as DeskRow | undefined
  if (row) return row
  throw failure("row_missing", { noun: workspaceTables[table].noun, id: String(id) })
}
