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

/** The services of the routes for stored data. */
export interface DataPorts {
  readonly databases: Databases
  readonly results: QueryResults
  readonly library: OwnLibrary
  readonly workspaces: Workspaces
  readonly embedder: Embedder
  readonly messageFiles: MessageFiles
  /** Most bytes of one person's files. */
  readonly bytesOfFiles: number
}

/** A database, and the signal that ends the request. */
interface DatabaseRequest {
  readonly user: UserId
  readonly id: ConnectionId
  readonly signal: AbortSignal
  readonly timeZone?: string | undefined
}

/** A CSV upload. */
export interface CsvUpload {
  readonly user: UserId
  readonly name: string
  readonly body: AsyncIterable<Uint8Array>
  readonly isTabSeparated: boolean
  readonly options: CsvReading
  readonly signal: AbortSignal
}

/** People's databases, which are read only. Another person's database is `not_found`, like one that does not exist. */
export interface Databases {
  list(user: UserId, page: PageQuery): Promise<Page<ConnectionView>>
  create(user: UserId, connection: NewConnection): Promise<ConnectionView>
  /** The connection to the sample database, created if the person has none. */
  sample(user: UserId): Promise<ConnectionView>
  find(user: UserId, id: ConnectionId): Promise<ConnectionView>
  change(user: UserId, id: ConnectionId, patch: ConnectionPatch): Promise<ConnectionView>
  remove(user: UserId, id: ConnectionId): Promise<void>
  previewCsv(upload: CsvUpload): Promise<CsvPreview>
  uploadCsv(upload: CsvUpload): Promise<ConnectionView>
  /** Removes the files that the person uploaded. */
  eraseFiles(user: UserId): Promise<void>
  /** Removes files from this machine that were deleted on another. */
  tidyFiles(): Promise<void>
  test(request: DatabaseRequest): Promise<ConnectionTest>
  /** Tests a connection without storing it. */
  try(user: UserId, connection: NewConnection, signal: AbortSignal): Promise<ConnectionTest>
  schema(request: DatabaseRequest, query: SchemaQuery): Promise<SchemaAnswer>
  query(request: DatabaseRequest, sql: string): Promise<QueryAnswer>
}

/** People's collections of documents. */
interface OwnLibrary {
  readonly records: Omit<LibraryRecords, "keep" | "fail" | "search">
  search(user: UserId, search: PassageSearch, signal: AbortSignal): Promise<SearchAnswer>
  /** Throws `document_too_large` or `library_full`; a file that cannot be parsed is reported in the answer. */
  ingest(
    place: { readonly user: UserId; readonly collection: CollectionId; readonly signal: AbortSignal },
    file: Omit<NewDocument, "content" | "encoding" | "file"> & { readonly bytes: Uint8Array },
  ): Promise<IngestAnswer>
}

/** People's workspaces on this server. */
export interface Workspaces {
  of(user: UserId): OwnWorkspace
  /** Called after every committed change in this process. */
  onChange(listener: (user: UserId, changes: readonly RowChange[]) => void): () => void
}

/** A workspace, edited by its person directly. */
interface OwnWorkspace extends Pick<Workspace, "get" | "nearest" | "indexing"> {
  /** Texts are shortened, and the page is bounded in bytes. */
  page(
    table: TableName,
    filters: DeviceFilters,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<ListedPage>
  /** The rows that exist among these ids, as in a list. */
  listed(table: TableName, ids: readonly string[]): Promise<ListedRow[]>
  edit(write: WorkspaceWrite): Promise<Applied>
  /** The ids among these that were written by a run which had read untrusted content. */
  tainted(ids: readonly string[]): Promise<readonly string[]>
  /** The JSON text of a `WorkspaceFile`. */
  export(): Promise<AsyncIterable<string>>
  import(file: WorkspaceFile): Promise<RowCounts>
  /** `timeZone`: determines what is due today. Default: the server's. Throws `sample_loaded`. */
  loadSample(timeZone?: string): Promise<RowCounts>
  removeSample(): Promise<SampleRemoval>
}
