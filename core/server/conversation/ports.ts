import type { Agents } from "../../engine/definition/agent.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { DevicePlace } from "../../engine/devices.ts"
import type { Journal } from "../../engine/journal.ts"
import type { Bus, ModelSource, Ports } from "../../engine/ports.ts"
import type { Policy } from "../../engine/gate/policy.ts"
import type { Log } from "../../shared/log.ts"
import type { Runtime } from "../../engine/runtime/runtime.ts"
import type { DelegatedCall, ListedModel, MessagesRead, Page, QueuedMessage } from "../../protocol/answers.ts"
import type { LocalModelServer, ModelEndpoint } from "../../protocol/models/providers.ts"
import type { ClientKind } from "../../protocol/account/sign-in.ts"
import type { ConversationView, Run, SharedRunView } from "../../protocol/conversation/conversation.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import type {
  AuditId,
  ConnectionId,
  ConversationId,
  MessageId,
  ProposalId,
  RunId,
  UserId,
  SharedRunId,
} from "../../protocol/ids.ts"
import type { AuditEntry, Proposal } from "../../protocol/proposals/proposal.ts"
import type { ConversationQuery, PageQuery, ProposalQuery } from "../../protocol/requests.ts"
import type { Ingests } from "../../engine/library.ts"
import type { ListedRow, RowChange, Workspace } from "../../protocol/workspace.ts"
import type { TableName } from "../../protocol/workspace-tables.ts"
import type { Streams } from "../auth/credentials.ts"
import type { ServerMetrics } from "../metrics/server-metrics.ts"
import type { MessageInput } from "../../engine/input.ts"
import type { MessageFiles } from "../../engine/stored-files.ts"

/** The services for finding, configuring and deciding in a conversation. */
export interface ConversationPorts {
  readonly runtime: Runtime
  readonly clock: Clock
  readonly log: Log
  readonly bus: Bus
  readonly journal: Journal
  readonly agents: Agents
  readonly policy: Policy
  readonly conversations: Conversations
  readonly proposals: Proposals
  readonly audit: Audit
  readonly models: ModelCatalogue & ModelSource
  readonly chosenModels: ChosenModels
  readonly databases: OwnedDatabases
  readonly devices: PresentDevices
}

/** The model that each person chose last in each client, and their default for all clients. */
interface ChosenModels {
  /** The last choice in this client, else the default; null if the person has neither. */
  read(user: UserId, client: ClientKind): Promise<string | null>
  remember(user: UserId, client: ClientKind, model: string): Promise<void>
  /** Sets the default, or removes it with null. It replaces what was chosen in each client before. */
  setDefault(user: UserId, model: string | null): Promise<void>
}

/** Checks that a database belongs to the person. */
export interface OwnedDatabases {
  find(user: UserId, id: ConnectionId): Promise<unknown>
}

/** The devices that are connected. */
export interface PresentDevices {
  of(user: UserId): Promise<readonly { readonly introduced?: { readonly deviceId: string } | undefined }[]>
  isReachable(place: DevicePlace): Promise<boolean>
}

/** The last messages before a `seq` and up to a position. */
interface MessageRange {
  readonly before?: number | undefined
  readonly upTo?: number
  readonly limit: number
}

/** Conversations as people read them. Another person's conversation is undefined, like one that does not exist. */
export interface Conversations {
  list(user: UserId, page: ConversationQuery): Promise<Page<ConversationView>>
  find(user: UserId, id: ConversationId): Promise<ConversationView | undefined>
  messages(id: ConversationId, range: MessageRange): Promise<MessagesRead>
  /** Undefined if the conversation has no such message. */
  message(id: ConversationId, message: MessageId): Promise<Message | undefined>
  messagesOfRun(id: ConversationId, from: number): Promise<Message[]>
  lastPause(id: ConversationId): Promise<number | undefined>
  handedOver(id: ConversationId, upTo: number): Promise<DelegatedCall[]>
  placeOf(id: ConversationId, message: MessageId): Promise<number | "waiting" | undefined>
  runStart(id: ConversationId, position: number): Promise<number>
  /** Its first position, and the last that may belong to it. */
  rowsOfRun(id: ConversationId, run: RunId): Promise<{ readonly start: number; readonly upTo: number } | undefined>
  /** Undefined if the conversation has no such message. */
  runOfMessage(id: ConversationId, message: MessageId): Promise<RunId | undefined>
  runs(id: ConversationId, page: PageQuery): Promise<Page<Run>>
  run(user: UserId, id: RunId): Promise<Run | undefined>
  cost(id: ConversationId): Promise<number | null>
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

interface Audit {
  list(user: UserId, page: PageQuery): Promise<Page<AuditEntry>>
  find(user: UserId, id: AuditId): Promise<AuditEntry | undefined>
}

interface ModelListOptions {
  /** Asks the providers again, however recently they answered. */
  readonly refresh?: boolean
  /** How long to wait for providers that are being asked. */
  readonly waitMs?: number
}

export interface FoundModels {
  readonly items: ListedModel[]
  readonly endpoints?: ModelEndpoint[]
  /** Model servers on this machine, if the person has no provider. */
  readonly localServers?: LocalModelServer[]
}

/** The models as one person may use them. */
export interface ModelCatalogue {
  /** The models that are known without asking the providers. */
  list(user: UserId): Promise<ListedModel[]>
  /** The same for a person who looks at the list: asks the endpoints that list their models. */
  look?(user: UserId, options: ModelListOptions): Promise<FoundModels>
  /** The provider of a model, without listing all; null if there is no such model. */
  providerOf?(name: string, user: UserId): Promise<string | null>
  /** Throws `no_model_selected` if there is no default. */
  defaultName(user: UserId): Promise<string>
}

/** The services for a stream of one conversation, or of all. */
export interface StreamPorts extends ConversationPorts {
  readonly streams: Streams
  readonly metrics: ServerMetrics
  readonly workspaces: WatchedWorkspaces
  readonly ingests: Ingests
}

/** Workspaces as a feed sees them: their changes and their current rows. */
interface WatchedWorkspaces {
  of(user: UserId): Pick<Workspace, "get"> & {
    /** The rows that exist among these ids, as in a list. */
    listed(table: TableName, ids: readonly string[]): Promise<ListedRow[]>
  }
  /** Called after every committed change in this process. */
  onChange(listener: (user: UserId, changes: readonly RowChange[]) => void): () => void
}

/** Keys that make it safe to send a message again. */
export interface MessageKeys {
  claim(
    id: ConversationId,
    keyed: { readonly key: string; readonly body: string; readonly messageId: MessageId },
  ): Promise<MessageId | "misused" | "withdrawn">
}

/** The services of the conversation routes. */
export interface ConversationRoutePorts extends StreamPorts {
  /** Refuses an answer schema that cannot be used. */
  readonly answerSchema?: Ports["answerSchema"]
  readonly queue: Queue
  readonly sharedRuns: SharedRuns
  readonly messageKeys: MessageKeys
  readonly messageFiles: Pick<MessageFiles, "use" | "shareUses">
}

/** Messages that wait in the inbox; false if the message no longer waits. `release` ends the hold after a cancel. */
interface Queue {
  list(id: ConversationId, page: PageQuery): Promise<Page<QueuedMessage>>
  find(id: ConversationId, message: MessageId): Promise<QueuedMessage | undefined>
  edit(id: ConversationId, message: MessageId, changed: Pick<MessageInput, "text" | "asks">): Promise<boolean>
  withdraw(id: ConversationId, message: MessageId): Promise<boolean>
  release(id: ConversationId, message: MessageId, by: Pick<MessageInput, "asks">): Promise<boolean>
}

/** Links to runs for other people. Implemented in store/. */
interface SharedRuns {
  /** Undefined if the person has no such run. */
  create(
    user: UserId,
    run: RunId,
    expiresAt: number | null,
  ): Promise<{ readonly view: SharedRunView; readonly secret: string } | undefined>
  list(user: UserId, page: PageQuery): Promise<Page<SharedRunView>>
  revoke(user: UserId, id: SharedRunId): Promise<boolean>
  /** The run that a link leads to, while it is valid. */
  find(secret: string): Promise<{ readonly user: UserId; readonly run: RunId } | undefined>
}
