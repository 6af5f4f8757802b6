import type { UnknownFrame } from "../core/protocol/frames.ts"
import { type TableName, tableNames } from "../core/protocol/workspace-tables.ts"
import type { WorkspaceRows } from "../core/protocol/workspace.ts"
import { isFrame } from "./is-frame.ts"

export type { WorkspaceRows }

/** The rows of one workspace table that the client has read or received so far. */
export interface WorkspaceTable<Row> {
  readonly rows: readonly Row[]
  /** True if the table was read. No rows then means that it is empty. */
  readonly isKnown: boolean
  /** False if the table must be read again. */
  readonly isCurrent: boolean
  /**
   * Changes from the feed since the table was last requested; null for deleted rows. They are newer than a response
   * that is still on its way.
   */
  readonly changes: ReadonlyMap<string, Row | null>
}

/** A user's workspace (tasks, projects, notes …) as a client knows it. Immutable. */
export type WorkspaceView = { readonly [Name in TableName]: WorkspaceTable<WorkspaceRows[Name]> }

interface AnyRow {
  readonly id: string
}
type Tables = Record<TableName, WorkspaceTable<AnyRow>>

/** The state before any table of the workspace was read. */
export const emptyWorkspace = Object.fromEntries(
  tableNames.map((name) => [name, { rows: [], isKnown: false, isCurrent: false, changes: new Map() }]),
) as unknown as WorkspaceView

/**
 * Applies one frame of the feed (the stream with a user's changes) to the workspace, and returns the new workspace:
 * with the changed rows, or with a table marked as outdated.
 */
export function reduceWorkspace(view: WorkspaceView, frame: UnknownFrame): WorkspaceView {
  // After a reconnect, changes may have been missed.
  if (frame.type === "snapshot") return tableNames.reduce(outdated, view)
  if (!isFrame(frame, "workspace")) return view
  const { table, rows, deleted = [] } = frame.data
  if (!rows) return outdated(view, table)
  const changes = [...rows.map((row) => [row.id, row] as const), ...deleted.map((id) => [id, null] as const)]
  const known = view[table] as WorkspaceTable<AnyRow>
  const merged = new Map([...known.changes, ...changes])
  return withTable(view, table, { ...known, changes: merged, rows: overlay(known.rows, new Map(changes)) })
}

/**
 * Marks a table as requested, before it is read. Changes that the feed reports after this are newer than the response.
 */
export const withTableRequested = (view: WorkspaceView, table: TableName): WorkspaceView =>
  withTable(view, table, { ...view[table], isCurrent: true, changes: new Map() })

/** Marks a workspace table as outdated, so that the client reads it again, and returns the new workspace. */
export const outdated = (view: WorkspaceView, table: TableName): WorkspaceView =>
  withTable(view, table, { ...view[table], isCurrent: false })

/** Sets all rows of a table from the server's response, and returns the new workspace. */
export function withRows(view: WorkspaceView, table: TableName, rows: readonly AnyRow[]): WorkspaceView {
  const known = view[table] as WorkspaceTable<AnyRow>
  return withTable(view, table, { ...known, isKnown: true, rows: overlay(rows, known.changes) })
}

interface OwnEdit<Name extends TableName> {
  readonly table: Name
  /** The row before the edit; undefined for a new row. */
  readonly was: WorkspaceRows[Name] | undefined
  readonly row: WorkspaceRows[Name]
}

/**
 * Applies the server's response after this client inserted or changed a row, and returns the new workspace. If the
 * feed has reported a change of the same row since, that version stays, because it is at least as new.
 */
export function withEdit<Name extends TableName>(view: WorkspaceView, edit: OwnEdit<Name>): WorkspaceView {
  const { table, was, row } = edit
  const known = view[table] as WorkspaceTable<AnyRow>
  const isNewer = known.rows.find(({ id }) => id === row.id) !== was || (was === undefined && known.changes.has(row.id))
  return isNewer ? view : withTable(view, table, { ...known, rows: overlay(known.rows, new Map([[row.id, row]])) })
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
