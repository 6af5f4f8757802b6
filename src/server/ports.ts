import type { MessageInput } from "../agent/input.ts"
import type { Runtime } from "../agent/runtime/runtime.ts"
import type { ListedModel, MessagesRead, Page, QueuedMessage } from "../protocol/answers.ts"
import type { AuditEntry } from "../protocol/proposals/audit.ts"
import type {
  ConnectionPatch,
  ConnectionTest,
  ConnectionView,
  NewConnection,
  QueryAnswer,
  SchemaAnswer,
  SchemaQuery,
} from "../protocol/databases/connections.ts"
import type { ConversationView } from "../protocol/conversation/conversation.ts"
import type { CsvPreview, CsvReading } from "../protocol/databases/csv.ts"
import type { ExportLine } from "../protocol/export.ts"
import type {
  AuditId,
  CollectionId,
  ConnectionId,
  ConversationId,
  MessageId,
  ProposalId,
  RunId,
  SessionId,
  TokenId,
  UserId,
} from "../protocol/ids.ts"
import type { IngestAnswer, NewDocument, PassageSearch, SearchAnswer } from "../protocol/library.ts"
import type { LibraryRecords } from "../protocol/ports/library.ts"
import type { Message } from "../protocol/conversation/message.ts"
import type { Proposal } from "../protocol/proposals/proposal.ts"
import type { PageQuery, ProposalQuery } from "../protocol/requests.ts"
import type { QueryResults } from "../protocol/databases/query-results.ts"
import type { NewAccess, ProviderView } from "../protocol/providers.ts"
import type { Run } from "../protocol/conversation/run.ts"
import type { UsageAnswer } from "../protocol/usage.ts"
import type { Scope } from "../protocol/scopes.ts"
import type { Embedder } from "../protocol/ports/workspace.ts"
import type { DeviceOwners } from "./door/device-owners.ts"
import type { Devices } from "./socket/devices.ts"
import type { PageFiles } from "./routes/pages/page-files.ts"
import type { ServerMetrics } from "./metrics/server-metrics.ts"
import type { Applied, Changed, Workspace, WorkspaceWrite } from "../protocol/ports/workspace.ts"
import type { RowCounts, SampleRemoval, WorkspaceFile } from "../protocol/workspace-file.ts"
import type { Credential, SessionView, Ticket, TokenView } from "../protocol/sign-in.ts"
import type { JwtClaims, JwtReader } from "./door/jwt.ts"

/** Everything the routes need, handed in by whoever composes the program. */
export interface ServerPorts {
  readonly runtime: Runtime
  readonly people: People
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly deviceOwners: DeviceOwners
  readonly streams: Streams
  /** Reads the JWTs of the configured issuer. */
  readonly jwt?: JwtReader
  /** What one person may ask in a minute; without it, or with 0, as much as they like. */
  readonly requestsPerMinute?: number
  readonly conversations: Conversations
  readonly proposals: Proposals
  readonly retention: Retention
  readonly metrics: ServerMetrics
  readonly messageKeys: MessageKeys
  readonly queue: Queue
  readonly audit: Audit
  readonly models: ModelList
  readonly providers: Providers
  readonly databases: Databases
  readonly library: OwnLibrary
  readonly results: QueryResults
  readonly usage: UsageRecords
  readonly workspaces: Workspaces
  readonly doors: ServerAddress
  readonly devices: Devices
  readonly embedder: Embedder
  /** The page as it was built; undefined where nobody has. */
  readonly page?: PageFiles | undefined
  /** Of this program, for its reference. */
  readonly version: string
  /** Rejects while the store cannot be reached, or when it is better to ask another server: with the reason, where known. */
  ready(): Promise<{ readonly warnings: readonly string[] }>
}

/** Who is asking, and what their credential lets them do. Identity comes from the credential only. */
export interface Caller {
  readonly person: { readonly id: UserId; readonly name: string }
  readonly scopes: ReadonlySet<Scope>
  readonly credential: Credential
}

export interface People {
  byToken(token: string, now: number): Promise<Caller | undefined>
  ofIssuer(who: Pick<JwtClaims, "issuer" | "subject" | "signedInAt">, now: number): Promise<Caller["person"]>
  createToken(
    person: { readonly id: UserId },
    granted: readonly Scope[],
    now: number,
    made?: { readonly name?: string | null; readonly mintedBy?: TokenId | null; readonly expiresAt?: number | null },
  ): Promise<{ id: TokenId; token: string }>
  listTokens(user: UserId, page: PageQuery, now: number): Promise<Page<TokenView>>
  /** Throws `not_found` for what is not theirs or no longer counts. */
  revokeToken(person: { readonly id: UserId }, id: TokenId, now: number): Promise<void>
}

/** Browsers that have signed in. */
export interface Sessions {
  /** Undefined where the link is used, old or none. Of racing uses one wins. */
  signIn(link: string, browser: string | null, now: number): Promise<{ secret: string; pageSecret: string } | undefined>
  /** `renewed`: it lasts longer now, and the browser should know. `half`: the cookie is one, the page's secret is not its. */
  bySecrets(
    secrets: { readonly secret: string; readonly pageSecret?: string | undefined },
    now: number,
  ): Promise<{ known: Caller; renewed: boolean } | "half" | undefined>
  list(user: UserId, page: PageQuery, now: number): Promise<Page<SessionView>>
  /** Throws `not_found` for what is not theirs or is over. */
  revoke(user: UserId, id: SessionId, now: number): Promise<void>
  end(secret: string): Promise<void>
}

export interface Credentials {
  /** Those that no longer count: `revoked` by the person, or `over` because they expired or signed out. */
  lapsed(ids: readonly string[], now: number): Promise<ReadonlyMap<string, "revoked" | "over">>
  createTicket(caller: Caller, now: number): Promise<Ticket>
  /** Single use. Undefined also where the credential behind it has lapsed. */
  redeemTicket(ticket: string, now: number): Promise<Caller | undefined>
}

/** Answers that stay open. Whoever writes one says so here, and is told to close it when its caller no longer counts. */
export interface Streams {
  /** Throws `too_many_streams` where the person has so many open that one more would be at the cost of others, `server_full` where all have. */
  admit(caller: Caller): void
  /** `close` is called at most once; what comes back takes the stream off the list, however it ended. */
  register(caller: Caller, close: () => void): () => void
  /** Closes what this credential has open and cancels the runs it has working, in this process, now. */
  revoked(credential: string): Promise<void>
  /** The same for one that has merely ended: its streams close, its runs go on. */
  ended(credential: string): void
}

/** The last messages before a `seq` and up to a position. */
export interface MessageRange {
  readonly before?: number | undefined
  readonly upTo?: number
  readonly limit: number
}

/** Conversations as people read them. What is somebody else's is undefined, like what does not exist. */
export interface Conversations {
  list(user: UserId, page: PageQuery): Promise<Page<ConversationView>>
  find(user: UserId, id: ConversationId): Promise<ConversationView | undefined>
  messages(id: ConversationId, range: MessageRange): Promise<MessagesRead>
  /** Undefined where the conversation has none of that id. */
  message(id: ConversationId, message: MessageId): Promise<Message | undefined>
  messagesOfRun(id: ConversationId, from: number): Promise<Message[]>
  lastPause(id: ConversationId): Promise<number | undefined>
  placeOf(id: ConversationId, message: MessageId): Promise<number | "waiting" | undefined>
  runStart(id: ConversationId, position: number): Promise<number>
  runs(id: ConversationId, page: PageQuery): Promise<Page<Run>>
  run(user: UserId, id: RunId): Promise<Run | undefined>
}

/** Messages that wait for their turn; false where one no longer does. `release` ends the hold after a cancel. */
export interface Queue {
  list(id: ConversationId): Promise<QueuedMessage[]>
  edit(id: ConversationId, message: MessageId, words: Pick<MessageInput, "text" | "asks">): Promise<boolean>
  withdraw(id: ConversationId, message: MessageId): Promise<boolean>
  release(id: ConversationId, message: MessageId, by: Pick<MessageInput, "asks">): Promise<boolean>
}

/** Keys that make it safe to send a message again. */
export interface MessageKeys {
  claim(
    id: ConversationId,
    keyed: { readonly key: string; readonly body: string; readonly messageId: MessageId },
  ): Promise<MessageId | "misused" | "withdrawn">
}

export interface Proposals {
  list(user: UserId, query: ProposalQuery): Promise<Page<Proposal>>
  find(user: UserId, id: ProposalId): Promise<Proposal | undefined>
  open(id: ConversationId): Promise<Proposal[]>
  inbox(user: UserId, limit: number): Promise<Proposal[]>
  expired(id: ConversationId): Promise<Proposal[]>
  lapsed(id: ConversationId, limit: number): Promise<Proposal[]>
  undoneBy(proposal: Proposal): Promise<AuditId | undefined>
  see(user: UserId, id: ProposalId): Promise<boolean>
}

/** What leaves the server: taken along, or erased. False: there was nothing of that id, or it is somebody else's. */
export interface Retention {
  eraseConversation(user: UserId, id: ConversationId): Promise<boolean>
  erasePerson(user: UserId): Promise<boolean>
  conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]>
  exportOf(user: UserId): AsyncIterable<ExportLine>
  /** Erases what was under way while its person was erased. Returns who was, this last day. */
  sweep(): Promise<UserId[]>
}

export interface Audit {
  list(user: UserId, page: PageQuery): Promise<Page<AuditEntry>>
  find(user: UserId, id: AuditId): Promise<AuditEntry | undefined>
}

/** The models as one person may use them. */
export interface ModelList {
  list(user: UserId): Promise<ListedModel[]>
  /** Throws `no_model_selected` where a conversation has to choose. */
  defaultName(user: UserId): Promise<string>
}

/** What people's model calls have used. */
export interface UsageRecords {
  read(user: UserId, days: { from: string; to: string }): Promise<UsageAnswer>
}

/** The providers of models, and what people have brought for them. A key goes in and never comes out. */
export interface Providers {
  list(user: UserId): Promise<ProviderView[]>
  /** Throws `not_found` for a provider that there is not. */
  find(user: UserId, name: string): Promise<ProviderView>
  save(user: UserId, name: string, access: NewAccess): Promise<void>
  remove(user: UserId, name: string): Promise<void>
}

/** People's workspaces on this server. */
export interface Workspaces {
  of(user: UserId): OwnWorkspace
  /** Told of every change in this process, whoever made it, once it is there. */
  onChange(listener: (user: UserId, changes: readonly Changed[]) => void): () => void
}

/** A workspace under its person's own hand. */
export interface OwnWorkspace extends Pick<Workspace, "select" | "get"> {
  edit(write: WorkspaceWrite): Promise<Applied>
  export(): Promise<WorkspaceFile>
  import(file: WorkspaceFile): Promise<RowCounts>
  /** `timeZone`: where something of it is due today; without, on this machine. Throws `sample_loaded`. */
  loadSample(timeZone?: string): Promise<RowCounts>
  removeSample(): Promise<SampleRemoval>
}

/** Which database is meant, and for how long the answer is of interest. */
export interface DatabaseRequest {
  readonly user: UserId
  readonly id: ConnectionId
  readonly signal: AbortSignal
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
    file: Omit<NewDocument, "content" | "encoding"> & { readonly bytes: Uint8Array },
  ): Promise<IngestAnswer>
}

/** Under which names the server answers, and which other sites' pages may change something through it. */
export interface ServerAddress {
  /** What it listens on. */
  readonly host: string
  readonly publicUrl?: string
  readonly allowedOrigins?: readonly string[]
  /** Addresses and networks whose word counts about where a request came from. */
  readonly trustedProxies?: readonly string[]
}
