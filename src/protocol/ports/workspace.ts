import type { CallId, ConversationId, UserId } from "../ids.ts"
import type { DeviceFilters } from "../socket.ts"
import type { Checkpoint, Note, Project, TableName, Task, TaskComment, WorkspaceClient } from "../workspace-tables.ts"

/** The rows of each table, as every workspace keeps them. */
export interface WorkspaceRows {
  readonly tasks: Task
  readonly projects: Project
  readonly checkpoints: Checkpoint
  readonly notes: Note
  readonly taskComments: TaskComment
  readonly clients: WorkspaceClient
}
export type RowOf<Name extends TableName> = WorkspaceRows[Name]
export type AnyRow = WorkspaceRows[TableName]
/** Rows by the table they are of. */
export type RowsByTable = { readonly [Name in TableName]?: readonly RowOf<Name>[] }
/** The same by their ids alone. */
export type IdsByTable = { readonly [Name in TableName]?: readonly string[] }

/**
 * One change of a workspace. Columns are those of the table's specification; the workspace itself makes ids and times.
 * `expect`: only while the row still holds these values, `along`: and just these rows go with it, otherwise `row_stale`.
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
  /** Puts rows back under their old ids, with what went with them. */
  | {
      readonly action: "restore"
      readonly table: TableName
      readonly rows: readonly AnyRow[]
      readonly with: RowsByTable
    }

/** What a write has come to. It is noted with the call's id in the transaction that has the effect. */
export interface Applied {
  readonly action: WorkspaceWrite["action"]
  readonly table: TableName
  /** Before: null for what is new. */
  readonly before: AnyRow | null
  /** After: null for what is gone. Of a restore: the first row. */
  readonly after: AnyRow | null
  /** What a delete took along, or a restore brought back, by table. */
  readonly with: RowsByTable
  /** What else whoever asked for it should know, as a sentence. */
  readonly remark?: string
}

/** A row that a workspace now has, or no longer (null). Told after the commit that made it so. */
export interface RowChange {
  readonly table: TableName
  readonly id: string
  readonly row: AnyRow | null
}

/** A vector, and which embedder made it: those of two embedders cannot be compared. */
export interface Vector {
  readonly embedder: string
  readonly numbers: readonly number[]
}

/** Below this two texts have nothing in common but the language, whichever of our embedders looked at them. */
export const MIN_NOTE_SCORE = 0.15

export interface Match {
  readonly id: string
  readonly content: string
  /** Cosine: 1 for the same direction, 0 for nothing in common. */
  readonly score: number
}

/** A row that a device keeps, and that is not as rows of its table are: named, so that somebody can find and mend it. */
export interface OddRow {
  /** Its place in the list as the device gave it, from 1. */
  readonly place: number
  readonly id: string | number | null
  readonly name: string | null
  readonly problem: string
}

export interface ListOptions {
  /** The most rows that are wanted; without it all of them. */
  readonly most?: number
  /** Only these columns are needed; rows may come without the others. `id` is always among them. */
  readonly columns?: readonly string[]
}

/** A list as far as it can be read. */
export interface Listing {
  readonly rows: readonly Readonly<Record<string, string | number | null>>[]
  readonly odd: readonly OddRow[]
  /** How many there are in all, the odd ones among them; undefined where nobody says. */
  readonly total: number | undefined
}

/**
 * One person's own data, on the server or on their device (WORK-03). What does not fit the tables' specification is
 * `bad_request`, a row that is not there (or is another person's) `row_missing`, one that has changed `row_stale`.
 */
export interface Workspace {
  select<Name extends TableName>(table: Name, filters?: DeviceFilters): Promise<RowOf<Name>[]>
  get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined>
  /** What would go, or refuse to go, with a row: for a proposal that shows it. */
  hanging(table: TableName, id: string): Promise<RowsByTable>
  /** Applies a call once: the same call id again changes nothing and gives back what the first one came to. */
  write(write: WorkspaceWrite, callId: CallId): Promise<Applied>
  /** What a call has come to, if it was ever applied. A device notes rows, not whose: `of` says what was asked of it. */
  outcome(callId: CallId, of: Pick<WorkspaceWrite, "action" | "table">): Promise<Applied | undefined>
  /** Like `outcome`, and a call that was not applied never will be: where a workspace can promise that. A device cannot. */
  bar?(callId: CallId): Promise<Applied | undefined>
  /** Makes a note findable by its meaning, in place of what stood there for it. */
  upsertVector(note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void>
  /** The notes nearest to a vector, best first. */
  nearest(vector: Vector, options: { limit: number; projectId?: string | null }): Promise<Match[]>
  /** How many notes cannot be found by what they say now, and of how many; a device does not say. */
  indexing?(): Promise<{ waiting: number; all: number }>
}

/** A workspace on a device: its rows may be odd, every answer is a way there and back, and it knows of gone notes what it is told. */
export interface DistantWorkspace extends Workspace {
  /** Rows for whoever shows them: one that cannot be read is named beside the others, and takes none of them along. */
  list(table: TableName, filters?: DeviceFilters, options?: ListOptions): Promise<Listing>
  /** A row with what hangs on it, in one answer; undefined where the device cannot say both at once. */
  getWhole(table: TableName, id: string): Promise<{ row: AnyRow | undefined; hanging: RowsByTable } | undefined>
  /** Lets go of what stands for a note that is gone. */
  deleteVector(id: string): Promise<void>
}

export const isDistant = (workspace: Workspace): workspace is DistantWorkspace => "deleteVector" in workspace

/** The call that a workspace is opened for: whose it is, in which conversation, and where that one works. */
export interface WorkspaceCall {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly callId: CallId
  readonly site: "server" | "device"
  readonly deviceId: string | null
  /** Where the person is: when days begin, for a device that keeps them as moments. */
  readonly timeZone?: string
  readonly signal: AbortSignal
}

/** Finds the workspace that a call works on. */
export type OpenWorkspace = (asked: WorkspaceCall) => Workspace

/** Texts into vectors (MODEL-06). */
export interface Embedder {
  /** Which one it is, remembered with every vector: `openai/text-embedding-3-small`, `local/all-minilm-l6-v2`. */
  readonly name: string
  readonly dimensions: number
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
}
