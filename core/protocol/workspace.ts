import type { CallId, ConversationId, UserId } from "./ids.ts"
import type { DeviceFilters } from "./socket.ts"
import type { Checkpoint, Note, Project, TableName, Task, TaskComment, WorkspaceClient } from "./workspace-tables.ts"

/** The row type of each table. */
export interface WorkspaceRows {
  readonly tasks: Task
  readonly projects: Project
  readonly checkpoints: Checkpoint
  readonly notes: Note
  readonly taskComments: TaskComment
  readonly clients: WorkspaceClient
}
/** The row type of one workspace table. */
export type RowOf<Name extends TableName> = WorkspaceRows[Name]
/** A row of any workspace table. */
export type AnyRow = WorkspaceRows[TableName]
/** Rows by table. */
export type RowsByTable = { readonly [Name in TableName]?: readonly RowOf<Name>[] }
/** Ids of rows by table. */
export type IdsByTable = { readonly [Name in TableName]?: readonly string[] }

/**
 * One change of a row in a workspace table. Columns are those of the table's specification; the workspace sets ids and
 * times. If the row no longer has the values in `expect`, or other rows than `along` would be deleted with it, the
 * write fails with `row_stale`.
 */
export type WorkspaceWrite =
  | { readonly action: "insert"; readonly table: TableName; readonly data: Readonly<Record<string, unknown>> }
  | {
      readonly action: "update"
      readonly table: TableName
      readonly id: string
      readonly updates: Readonly<Record<string, unknown>>
      readonly expect?: Readonly<Record<string, unknown>>
    }
  | {
      readonly action: "delete"
      readonly table: TableName
      readonly id: string
      readonly expect?: Readonly<Record<string, unknown>>
      readonly along?: IdsByTable
    }
  /** Restores rows under their old ids, with the rows that were deleted with them. */
  | {
      readonly action: "restore"
      readonly table: TableName
      readonly rows: readonly AnyRow[]
      readonly with: RowsByTable
    }

/** The result of a write to the workspace. It is stored with the call id, in the transaction that has the effect. */
export interface Applied {
  readonly action: WorkspaceWrite["action"]
  readonly table: TableName
  /** The row before the write; null for a new row. */
  readonly before: AnyRow | null
  /** The row after the write; null for a deleted row. For a restore: the first row. */
  readonly after: AnyRow | null
  /** The rows that were deleted or restored with it, by table. */
  readonly with: RowsByTable
  /** A remark for the caller, as a sentence. */
  readonly remark?: string
}

/** Marks stored text that was written by a run after it had read untrusted content, such as a web page. */
export type Taint = "untrusted"

/**
 * Records which rows hold text of a run that had read untrusted content. The server records it for rows on devices too,
 * because a device may not support it, and its own report is never a reason to trust a row.
 */
export interface TaintedRows {
  /**
   * Returns the marked ids among these, and pending marks of calls whose row ids are unknown. `place` is `""` for the
   * server's workspace, otherwise the id of the device.
   */
  find(user: UserId, place: string, ids: readonly string[]): Promise<readonly string[]>
  add(user: UserId, place: string, ids: readonly string[]): Promise<void>
  remove(user: UserId, place: string, ids: readonly string[]): Promise<void>
}

const PENDING = "call:"
/**
 * The name under which a device's row is marked as untrusted before the id of the row is known. It is derived from the
 * call that writes the row.
 */
export const pendingMark = (callId: CallId): string => `${PENDING}${callId}`
/** An SQL LIKE pattern that matches every name created by `pendingMark`. */
export const pendingMarks = `${PENDING}%`

/**
 * Returns the ids of the rows that a write gave new text. Empty for a delete and for an undo, whose rows keep their
 * previous marks.
 */
export const writtenIds = ({ action, after }: Applied): string[] =>
  after && (action === "insert" || action === "update") ? [after.id] : []

/** A row of a workspace table that was changed, or deleted (null). Emitted after the commit. */
export interface RowChange {
  readonly table: TableName
  readonly id: string
  readonly row: AnyRow | null
}

/** A vector and the embedder that computed it. Vectors of different embedders cannot be compared. */
export interface Vector {
  readonly embedder: string
  readonly numbers: readonly number[]
}

/**
 * The least similarity for a search result. Two texts with a lower score have nothing in common but their language,
 * for each of our embedders.
 */
export const MIN_NOTE_SCORE = 0.15

/** A note that semantic search found, with its similarity to the query. */
export interface NoteMatch {
  readonly id: string
  readonly content: string
  /** Cosine similarity: 1 for the same direction, 0 for nothing in common. */
  readonly score: number
}

/** A row on a device that does not fit the table's specification, with what a person needs to find and fix it. */
export interface MalformedRow {
  /** The row's position in the device's list, from 1. */
  readonly place: number
  readonly id: string | number | null
  readonly name: string | null
  readonly problem: string
}

/** How many rows of a table to list, and which columns. */
export interface ListOptions {
  /** The most rows to return. Default: all. */
  readonly most?: number
  /** The columns that are needed; others may be omitted. `id` is always included. */
  readonly columns?: readonly string[]
}

/** A row in a list. Long text is shortened, and `truncated` has its full size in bytes. */
export type ListedRow = AnyRow & { readonly truncated?: Readonly<Record<string, number>> }

/** A page of rows from a workspace table, with a limited size in bytes. `nextCursor` is null on the last page. */
export interface ListedPage {
  readonly items: readonly ListedRow[]
  readonly nextCursor: string | null
}

/** The rows of a workspace table's list, and those that could not be read. */
export interface Listing {
  readonly rows: readonly Readonly<Record<string, string | number | null>>[]
  readonly odd: readonly MalformedRow[]
  /** The total number of rows, including the malformed ones; undefined if it is unknown. */
  readonly total: number | undefined
}

/**
 * A user's workspace (tasks, projects, notes …), on the server or on their device. Throws `bad_request` if data does
 * not fit the table's specification, `row_missing` if a row does not exist or belongs to another user, and `row_stale`
 * if it has changed.
 */
export interface Workspace {
  /** Returns all rows in full. Throws if they do not fit in memory. */
  select<Name extends TableName>(table: Name, filters?: DeviceFilters): Promise<RowOf<Name>[]>
  /** Lists rows for display. Long text may be shortened, and a row that cannot be read does not hide the others. */
  list(table: TableName, filters?: DeviceFilters, options?: ListOptions): Promise<Listing>
  get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined>
  /** Returns the rows that would be deleted with a row, or that prevent its deletion, for the preview. */
  hanging(table: TableName, id: string): Promise<RowsByTable>
  /** Applies a call. A repeated call id changes nothing and returns the first result. */
  write(write: WorkspaceWrite, callId: CallId, taint?: Taint): Promise<Applied>
  /**
   * Returns the result of a call, if it was applied. A device stores rows without their table, so `of` names the call's
   * action and table.
   */
  outcome(callId: CallId, of: Pick<WorkspaceWrite, "action" | "table">): Promise<Applied | undefined>
  /** Like `outcome`, and also prevents the call from being applied later. A device does not support this. */
  bar?(callId: CallId): Promise<Applied | undefined>
  /** Stores or replaces the vector of a note, for semantic search. */
  upsertVector(note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void>
  /** Returns the notes most similar to a vector, best first. */
  nearest(vector: Vector, options: { limit: number; projectId?: string | null }): Promise<NoteMatch[]>
  /** Returns how many notes are not indexed yet, and the total. Not available on devices. */
  indexing?(): Promise<{ waiting: number; all: number }>
}

/**
 * A workspace on a device. Its rows may be malformed, every call is a round trip, and vectors of deleted notes must be
 * removed explicitly.
 */
export interface RemoteWorkspace extends Workspace {
  /** Returns a row with the rows that depend on it, in one round trip; undefined if the device cannot return both. */
  getWhole(table: TableName, id: string): Promise<{ row: AnyRow | undefined; hanging: RowsByTable } | undefined>
  /** Deletes the vector of a deleted note. Throws if the device does not support it. */
  deleteVector(id: string): Promise<void>
  /** Returns true if lists can be filtered with `search`. */
  hasSearch(): Promise<boolean>
}

/** Returns true if the workspace is on a device and not on the server. */
export const isRemote = (workspace: Workspace): workspace is RemoteWorkspace => "deleteVector" in workspace

/** The tool call that reads or writes the workspace, and where the workspace is: on the server or on a device. */
export interface WorkspaceCall {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly callId: CallId
  readonly site: "server" | "device"
  readonly deviceId: string | null
  /** The user's time zone, for devices that store days as timestamps. */
  readonly timeZone?: string
  readonly signal: AbortSignal
  /** Set if the conversation has read untrusted content. Rows that this call writes are marked with it. */
  readonly taint?: Taint | "folder" | undefined
  /** Reports that the answer of this call contains marked text. */
  noteTaint?(taint: Taint): void
}

/** Opens the workspace that a call uses. */
export type OpenWorkspace = (asked: WorkspaceCall) => Workspace

/** Converts text to vectors, so that texts can be compared by meaning. */
export interface Embedder {
  /**
   * The embedder's name, stored with every vector, such as `openai/text-embedding-3-small` or `local/all-minilm-l6-v2`.
   */
  readonly name: string
  readonly dimensions: number
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
}
