import type { Page } from "../../protocol/answers.ts"
import type {
  ConnectionPatch,
  ConnectionTest,
  ConnectionView,
  NewConnection,
  QueryAnswer,
  QueryResults,
  SchemaAnswer,
  SchemaQuery,
} from "../../protocol/databases/connections.ts"
import type { CsvPreview, CsvReading } from "../../protocol/databases/csv.ts"
import type { CollectionId, ConnectionId, UserId } from "../../protocol/ids.ts"
import type { IngestAnswer, NewDocument, PassageSearch, SearchAnswer } from "../../protocol/library.ts"
import type { MessageFiles } from "../../engine/stored-files.ts"
import type { LibraryRecords } from "../../engine/library.ts"
import type {
  Applied,
  Embedder,
  ListedPage,
  ListedRow,
  RowChange,
  Workspace,
  WorkspaceWrite,
} from "../../protocol/workspace.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type { RowCounts, SampleRemoval, WorkspaceFile } from "../../protocol/workspace-file.ts"
import type { TableName } from "../../protocol/workspace-tables.ts"

/** What people keep here, or have connected. */
export interface DataPorts {
  readonly databases: Databases
  readonly results: QueryResults
  readonly library: OwnLibrary
  readonly workspaces: Workspaces
  readonly embedder: Embedder
  readonly messageFiles: MessageFiles
  /** How many bytes the files of one person may take together. */
  readonly bytesOfFiles: number
}

/** Which database is meant, and for how long the answer is of interest. */
export interface DatabaseRequest {
  readonly user: UserId
  readonly id: ConnectionId
  readonly signal: AbortSignal
  readonly timeZone?: string | undefined
}

/** A CSV file on its way in. */
export interface CsvUpload {
  readonly user: UserId
  readonly name: string
  readonly body: AsyncIterable<Uint8Array>
  readonly tabs: boolean
  readonly said: CsvReading
  readonly signal: AbortSignal
}

/** Databases of people, which are only ever read. What is somebody else's is `not_found`, like what does not exist. */
export interface Databases {
  list(user: UserId, page: PageQuery): Promise<Page<ConnectionView>>
  create(user: UserId, connection: NewConnection): Promise<ConnectionView>
  /** The connection to the sample database, made where the person has none. */
  sample(user: UserId): Promise<ConnectionView>
  find(user: UserId, id: ConnectionId): Promise<ConnectionView>
  change(user: UserId, id: ConnectionId, patch: ConnectionPatch): Promise<ConnectionView>
  remove(user: UserId, id: ConnectionId): Promise<void>
  previewCsv(upload: CsvUpload): Promise<CsvPreview>
  uploadCsv(upload: CsvUpload): Promise<ConnectionView>
  /** Removes the files that the person has uploaded. */
  eraseFiles(user: UserId): Promise<void>
  /** Removes from this machine what has been deleted on another. */
  tidyFiles(): Promise<void>
  test(request: DatabaseRequest): Promise<ConnectionTest>
  /** The same for one that is not stored, and is not by this. */
  try(user: UserId, connection: NewConnection, signal: AbortSignal): Promise<ConnectionTest>
  schema(request: DatabaseRequest, query: SchemaQuery): Promise<SchemaAnswer>
  query(request: DatabaseRequest, sql: string): Promise<QueryAnswer>
}

/** People's collections of documents: what is in them, what is found in them, and the hand that fills them. */
export interface OwnLibrary {
  readonly records: Omit<LibraryRecords, "keep" | "fail" | "search">
  search(user: UserId, search: PassageSearch, signal: AbortSignal): Promise<SearchAnswer>
  /** Throws `document_too_large` or `library_full`; what could not be read is an answer. */
  ingest(
    place: { readonly user: UserId; readonly collection: CollectionId; readonly signal: AbortSignal },
    file: Omit<NewDocument, "content" | "encoding" | "file"> & { readonly bytes: Uint8Array },
  ): Promise<IngestAnswer>
}

/** People's workspaces on this server. */
export interface Workspaces {
  of(user: UserId): OwnWorkspace
  /** Told of every change in this process, whoever made it, once it is there. */
  onChange(listener: (user: UserId, changes: readonly RowChange[]) => void): () => void
}

/** A workspace under its person's own hand. */
export interface OwnWorkspace extends Pick<Workspace, "get" | "nearest" | "indexing"> {
  /** The texts are shortened, and the page bounded in bytes. */
  page(
    table: TableName,
    filters: DeviceFilters,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<ListedPage>
  /** Those of these rows that are there, as a list has them. */
  listed(table: TableName, ids: readonly string[]): Promise<ListedRow[]>
  edit(write: WorkspaceWrite): Promise<Applied>
  /** Those of these rows that were written by a run which had read content from outside. */
  tainted(ids: readonly string[]): Promise<readonly string[]>
  /** The JSON text of a `WorkspaceFile`. */
  export(): Promise<AsyncIterable<string>>
  import(file: WorkspaceFile): Promise<RowCounts>
  /** `timeZone`: where something of it is due today; without, on this machine. Throws `sample_loaded`. */
  loadSample(timeZone?: string): Promise<RowCounts>
  removeSample(): Promise<SampleRemoval>
}
