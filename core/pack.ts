/**
 * For packs: agents with their tools, and the services that a server passes to them. A pack imports this entry, and
 * its programs in their own process or thread import `program.ts`.
 */
export * from "./program.ts"

// The pack, its agents and tools.
export { definePack, type OpenedPack, type Pack, type PackNeeds, type PackServices } from "./packs/pack.ts"
export type { ThirdPartyServices } from "./packs/load-packs.ts"
export {
  type Agent,
  defineAgent,
  type Ground,
  type Grounding,
  type Profile,
  type Routed,
  type Router,
  type Routing,
} from "./engine/definition/agent.ts"
export {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  failed,
  type Preview,
  type ReadTool,
  type SiblingCall,
  type Tool,
  type WriteOutcome,
} from "./engine/definition/tool.ts"
export { parse } from "./engine/definition/schema.ts"
export type { AnswerToCheck, CitationReport, Stages } from "./engine/definition/stages.ts"
export { type Citation, Grade, type Source } from "./protocol/conversation/stages.ts"
export { similarName } from "./engine/calls/read-input.ts"
export { parseWithoutSecrets, SecretFilter } from "./engine/calls/tool-end.ts"
export { ActionClass, Diff, type InverseCall } from "./protocol/proposals/proposal.ts"

// A model that a tool asks by itself.
export { streamReply } from "./engine/ask/reply.ts"
export type { HistoryMessage, Model, ModelRequest, ReplyPart, ToolDeclaration } from "./engine/model.ts"

// Services: the web, devices, stored files, the library of documents, the tables of the workspace.
export type { Web, WebAnswer, WebRequest } from "./engine/pack-services.ts"
export type { DeviceCall, DeviceCalls, DevicePlace } from "./engine/devices.ts"
export { type CallOutcome, DeviceFilters, type DeviceKnowledge } from "./protocol/socket.ts"
export type { FileDisks, StoredFiles, LocalFile, Replacement, SharedFiles, StoredBytes } from "./engine/stored-files.ts"
export type { DocumentChange, Library, LibraryRecords, NewPassage, ReadDocument } from "./engine/library.ts"
export {
  DocumentKind,
  type DocumentView,
  type FoundPassage,
  type IngestAnswer,
  PaperDate,
  type PassageSearch,
  type SearchAnswer,
  searchNotice,
} from "./protocol/library.ts"
export {
  type AnyRow,
  type Applied,
  type Embedder,
  type IdsByTable,
  isRemote,
  type Listing,
  type ListOptions,
  type MalformedRow,
  MIN_NOTE_SCORE,
  type NoteMatch,
  type OpenWorkspace,
  pendingMark,
  type RemoteWorkspace,
  type RowOf,
  type RowsByTable,
  type TaintedRows,
  type Vector,
  type Workspace,
  type WorkspaceCall,
  type WorkspaceWrite,
  writtenIds,
} from "./protocol/workspace.ts"
export {
  Note,
  Project,
  type Reference,
  type TableName,
  tableNames,
  Task,
  TaskPriority,
  TaskStatus,
  type TableSpecification,
  type WorkspaceClient,
  workspaceTables,
} from "./protocol/workspace-tables.ts"
export { dayAt, endOf, noonOf, startOf, toDay } from "./workspace/days.ts"
export { type KnownTable, readTable, type Row, type Rows } from "./workspace/known-tables.ts"
export { inPortions } from "./workspace/layout.ts"
export { deletedNotes, requireFresh } from "./workspace/plan-write.ts"
export { readExpected, readFilters, readId, readNewRow, readRestoredRows, readUpdates } from "./workspace/read-input.ts"
export { instantOf, midnight, startOfDay, utcOf, wallTimeAt } from "./workspace/time-zone.ts"

// Databases of users, and results of queries.
export {
  type Column,
  ConnectionPatch,
  type ConnectionTest,
  type ConnectionView,
  isThisMachine,
  type NewConnection,
  PostgresTarget,
  type QueryAnswer,
  type QueryResults,
  type SchemaAnswer,
  type SchemaQuery,
  SqlResultState,
  SqliteTarget,
  type StoredConnection,
  type StoredResult,
  type Target,
  usualSsl,
} from "./protocol/databases/connections.ts"
export { CsvPreview, type CsvQuestion, type CsvReading } from "./protocol/databases/csv.ts"

// Ids and pages.
export type { Page } from "./protocol/answers.ts"
export {
  type CallId,
  type CollectionId,
  type ConnectionId,
  type ConversationId,
  type DocumentId,
  // oxlint-disable-next-line typescript/no-deprecated -- only its overload without an owner is deprecated
  newId,
  type ResultId,
  type UserId,
} from "./protocol/ids.ts"
export type { PageQuery } from "./protocol/requests.ts"
export { JsonObject } from "./protocol/schema.ts"

// Processes and threads of the pack, and what limits and orders their work.
export { type Child, ChildDied } from "./shared/processes/child.ts"
export { ChildProgram, type OtherProgram } from "./shared/processes/child-program.ts"
export { orphanGuard } from "./shared/processes/orphan-guard.ts"
export { siblingScript, JobThread } from "./shared/processes/thread.ts"
export { FairQueue, type Keep } from "./shared/concurrency/fair-queue.ts"
export { lazyModule } from "./shared/concurrency/lazy-module.ts"
export { KeyedLock, Semaphore } from "./shared/concurrency/locks.ts"

// Text, time and logs.
export { boundedList } from "./shared/text/bounded-list.ts"
export { showHidden } from "./shared/text/show-hidden.ts"
export { textOfNote } from "./shared/text/text.ts"
export { quote, quoteIfNeeded } from "./shared/text/quote.ts"
export { type Clock, monotonicOf, systemClock } from "./shared/time/clock.ts"
export { type DayOrMoment, isDay } from "./shared/time/day.ts"
export { retryTimeText } from "./shared/time/retry-time.ts"
export { hostZone, isTimeZone } from "./shared/time/zone.ts"
export type { Log } from "./shared/log.ts"
