import { useEffect } from "react"
import {
  readPages,
  withTableRequested,
  emptyWorkspace,
  outdated,
  reduceWorkspace,
  withEdit,
  withRows,
  type WorkspaceRows,
  type WorkspaceView,
} from "../../../client/index.ts"
import { type TableName, tableNames } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { feed, listeners } from "./feed.ts"
import { noticeSignOut } from "./identity.ts"
import { Store, useStore } from "./store.ts"

interface WorkspaceState {
  readonly view: WorkspaceView
  /** The error of the last read. */
  readonly problem: unknown
}

/** The person's workspace, live after the first page of it was opened. */
const workspace = new Store<WorkspaceState>({ view: emptyWorkspace, problem: undefined })

let isFollowing = false

export function useWorkspace(): WorkspaceState {
  useEffect(() => {
    if (isFollowing) return
    isFollowing = true
    listeners.add((frame) => {
      workspace.change({ view: reduceWorkspace(workspace.value.view, frame) })
      void readOutdated()
    })
    void readOutdated()
  }, [])
  return useStore(workspace)
}

/** Reads all outdated tables. */
export async function readOutdated(): Promise<void> {
  const wanted = tableNames.filter((name) => !workspace.value.view[name].isCurrent)
  await Promise.all(wanted.map(read))
}

const readings = new Map<TableName, number>()

async function read(table: TableName): Promise<void> {
  const reading = (readings.get(table) ?? 0) + 1
  readings.set(table, reading)
  const isLatest = () => readings.get(table) === reading
  workspace.change({ view: withTableRequested(workspace.value.view, table) })
  try {
    const query = table === "projects" ? { includeArchived: "true" as const } : {}
    const items = await readPages((page) => client.listRows({ params: { table }, query: { ...query, ...page } }), 1000)
    // Another read may have started meanwhile, and responses may overtake each other.
    if (isLatest()) workspace.change({ view: withRows(workspace.value.view, table, items), problem: undefined })
  } catch (error) {
    noticeSignOut(error)
    if (isLatest()) workspace.change({ view: outdated(workspace.value.view, table), problem: error })
  }
}

type Row<Name extends TableName> = WorkspaceRows[Name]

export const findRow = <Name extends TableName>(table: Name, id: string): Row<Name> | undefined =>
  (workspace.value.view[table].rows as readonly Row<Name>[]).find((row) => row.id === id)

/** Applies the server's response to an edit: without the feed, no event would report it. */
export function applyEdit<Name extends TableName>(table: Name, row: Row<Name>, was: Row<Name> | undefined): void {
  workspace.change({ view: withEdit(workspace.value.view, { table, was, row }) })
}

/** For edits of more than one row: without the feed everything is read again. */
export async function readWithoutFeed(): Promise<void> {
  if (feed.value.line === "live") return
  workspace.change({ view: tableNames.reduce(outdated, workspace.value.view) })
  await readOutdated()
}
