import type { UnknownFrame } from "../protocol/frames.ts"
import { type TableName, tableNames } from "../protocol/workspace-tables.ts"
import type { WorkspaceRows } from "../protocol/ports/workspace.ts"
import { isFrame } from "./is-frame.ts"

export type { WorkspaceRows }

/** One table as far as it is known. */
export interface WorkspaceTable<Row> {
  readonly rows: readonly Row[]
  /** It has been read once: no rows then means that there are none. */
  readonly isKnown: boolean
  /** False where it has to be read, or read again. */
  readonly isCurrent: boolean
  /** What the feed has told since it was last asked for; null for what is gone. Newer than an answer on its way. */
  readonly told: ReadonlyMap<string, Row | null>
}

/** What a person is shown of their workspace on the server. Never changed in place. */
export type WorkspaceView = { readonly [Name in TableName]: WorkspaceTable<WorkspaceRows[Name]> }

interface AnyRow {
  readonly id: string
}
type Tables = Record<TableName, WorkspaceTable<AnyRow>>

export const emptyWorkspace = Object.fromEntries(
  tableNames.map((name) => [name, { rows: [], isKnown: false, isCurrent: false, told: new Map() }]),
) as unknown as WorkspaceView

/** The workspace after one more frame of the feed: rows as they stand, or the word that a table has to be read again. */
export function reduceWorkspace(view: WorkspaceView, frame: UnknownFrame): WorkspaceView {
  // Whoever was away has missed what was told meanwhile.
  if (frame.type === "snapshot") return tableNames.reduce(outdated, view)
  if (!isFrame(frame, "workspace")) return view
  const { table, rows, deleted = [] } = frame.data
  if (!rows) return outdated(view, table)
  const changes = [...rows.map((row) => [row.id, row] as const), ...deleted.map((id) => [id, null] as const)]
  const known = view[table] as WorkspaceTable<AnyRow>
  const told = new Map([...known.told, ...changes])
  return withTable(view, table, { ...known, told, rows: overlay(known.rows, new Map(changes)) })
}

/** A table that is about to be asked for: what is told from here on is newer than the answer. */
export const withTableAsked = (view: WorkspaceView, table: TableName): WorkspaceView =>
  withTable(view, table, { ...view[table], isCurrent: true, told: new Map() })

/** A table that has to be read again. */
export const outdated = (view: WorkspaceView, table: TableName): WorkspaceView =>
  withTable(view, table, { ...view[table], isCurrent: false })

/** The answer of the server about a whole table. */
export function withRows(view: WorkspaceView, table: TableName, rows: readonly AnyRow[]): WorkspaceView {
  const known = view[table] as WorkspaceTable<AnyRow>
  return withTable(view, table, { ...known, isKnown: true, rows: overlay(rows, known.told) })
}

interface OwnEdit<Name extends TableName> {
  readonly table: Name
  /** As it was known when the edit was sent; undefined for a new one. */
  readonly was: WorkspaceRows[Name] | undefined
  readonly row: WorkspaceRows[Name]
}

/** The answer to an edit of this very page. Where the feed has told of the row meanwhile, that is as new or newer. */
export function withEdit<Name extends TableName>(view: WorkspaceView, edit: OwnEdit<Name>): WorkspaceView {
  const { table, was, row } = edit
  const known = view[table] as WorkspaceTable<AnyRow>
  const isTold = known.rows.find(({ id }) => id === row.id) !== was || (was === undefined && known.told.has(row.id))
  return isTold ? view : withTable(view, table, { ...known, rows: overlay(known.rows, new Map([[row.id, row]])) })
}

function overlay(rows: readonly AnyRow[], changes: ReadonlyMap<string, AnyRow | null>): AnyRow[] {
  const byId = new Map<string, AnyRow>(rows.map((row) => [row.id, row]))
  for (const [id, row] of changes) {
    if (row) byId.set(id, row)
    else byId.delete(id)
  }
  return [...byId.values()]
}

const withTable = (view: WorkspaceView, name: TableName, table: WorkspaceTable<AnyRow>): WorkspaceView =>
  ({ ...(view as unknown as Tables), [name]: table }) as unknown as WorkspaceView
