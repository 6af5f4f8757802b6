import type { Agents } from "../../engine/definition/agent.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { DevicePlace } from "../../engine/devices.ts"
import type { Journal } from "../../engine/journal.ts"
import type { Bus, ModelSource, Policy, Ports } from "../../engine/ports.ts"
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

/** What is needed to find a conversation, to set it, and to decide in it. */
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
export interface ChosenModels {
  /** The last choice in this client, else the default; null if the person has neither. */
  read(user: UserId, client: ClientKind): Promise<string | null>
  remember(user: UserId, client: ClientKind, model: string): Promise<void>
  /** Sets the default, or removes it with null. It replaces what was chosen in each client before. */
  setDefault(user: UserId, model: string | null): Promise<void>
}

/** Whether a database is somebody's: all that a conversation asks before it works on one. */
export interface OwnedDatabases {
  /** Throws `not_found`. */
  find(user: UserId, id: ConnectionId): Promise<unknown>
}

/** Which devices are there: all that a conversation asks before it works on one. */
export interface PresentDevices {
  /** The newest first. */
  of(user: UserId): Promise<readonly { readonly introduced?: { readonly deviceId: string } | undefined }[]>
  isReachable(place: DevicePlace): Promise<boolean>
}

/** The last messages before a `seq` and up to a position. */
export interface MessageRange {
  readonly before?: number | undefined
  readonly upTo?: number
  readonly limit: number
}

/** Conversations as people read them. What is somebody else's is undefined, like what does not exist. */
export interface Conversations {
  list(user: UserId, page: ConversationQuery): Promise<Page<ConversationView>>
  find(user: UserId, id: ConversationId): Promise<ConversationView | undefined>
  messages(id: ConversationId, range: MessageRange): Promise<MessagesRead>
  /** Undefined where the conversation has none of that id. */
  message(id: ConversationId, message: MessageId): Promise<Message | undefined>
  messagesOfRun(id: ConversationId, from: number): Promise<Message[]>
  lastPause(id: ConversationId): Promise<number | undefined>
  handedOver(id: ConversationId, upTo: number): Promise<DelegatedCall[]>
  placeOf(id: ConversationId, message: MessageId): Promise<number | "waiting" | undefined>
  runStart(id: ConversationId, position: number): Promise<number>
  /** Its first row, and the last that may be its own. */
  rowsOfRun(id: ConversationId, run: RunId): Promise<{ readonly start: number; readonly upTo: number } | undefined>
  /** Undefined where the conversation has no such message. */
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

export interface Audit {
  list(user: UserId, page: PageQuery): Promise<Page<AuditEntry>>
  find(user: UserId, id: AuditId): Promise<AuditEntry | undefined>
}

export interface ModelLook {
  /** They are asked again, however lately they have answered. */
  readonly refresh?: boolean
  /** How long to wait for those that are being asked. */
  readonly waitMs?: number
}

export interface SeenModels {
  readonly items: ListedModel[]
  readonly endpoints?: ModelEndpoint[]
  /** Model servers on this machine, if the person has no provider. */
  readonly localServers?: LocalModelServer[]
}

/** The models as one person may use them. */
export interface ModelCatalogue {
  /** What is known. */
  list(user: UserId): Promise<ListedModel[]>
  /** The same for somebody who looks at it, which has endpoints asked that list their models. */
  look?(user: UserId, look: ModelLook): Promise<SeenModels>
  /** Whose model this is, without a list of them all; null where there is none of this name. */
  providerOf?(name: string, user: UserId): Promise<string | null>
  /** Throws `no_model_selected` where a conversation has to choose. */
  defaultName(user: UserId): Promise<string>
}

/** What it takes to show a conversation, or all of them, for as long as somebody looks. */
export interface StreamPorts extends ConversationPorts {
  readonly streams: Streams
  readonly metrics: ServerMetrics
  readonly workspaces: WatchedWorkspaces
  readonly ingests: Ingests
}

/** Workspaces as a feed sees them: what changes, and how it stands now. */
export interface WatchedWorkspaces {
  of(user: UserId): Pick<Workspace, "get"> & {
    /** Those of these rows that are there, as a list has them. */
    listed(table: TableName, ids: readonly string[]): Promise<ListedRow[]>
  }
  /** Told of every change in this process, whoever made it, once it is there. */
  onChange(listener: (user: UserId, changes: readonly RowChange[]) => void): () => void
}

/** Keys that make it safe to send a message again. */
export interface MessageKeys {
  claim(
    id: ConversationId,
    keyed: { readonly key: string; readonly body: string; readonly messageId: MessageId },
  ): Promise<MessageId | "misused" | "withdrawn">
}

/** Beside what every stream needs: messages that wait, and those that come twice. */
export interface ConversationRoutePorts extends StreamPorts {
  /** Refuses a schema for answers that cannot be used. */
  readonly answerSchema?: Ports["answerSchema"]
  readonly queue: Queue
  readonly sharedRuns: SharedRuns
  readonly messageKeys: MessageKeys
  readonly messageFiles: Pick<MessageFiles, "use" | "shareUses">
}

/** Messages that wait for their turn; false where one no longer does. `release` ends the hold after a cancel. */
export interface Queue {
  list(id: ConversationId, page: PageQuery): Promise<Page<QueuedMessage>>
  find(id: ConversationId, message: MessageId): Promise<QueuedMessage | undefined>
  edit(id: ConversationId, message: MessageId, words: Pick<MessageInput, "text" | "asks">): Promise<boolean>
  withdraw(id: ConversationId, message: MessageId): Promise<boolean>
  release(id: ConversationId, message: MessageId, by: Pick<MessageInput, "asks">): Promise<boolean>
}

/** Links to runs for other people. Implemented in store/. */
export interface SharedRuns {
  /** Undefined where the person has no such run. */
  create(
    user: UserId,
    run: RunId,
    expiresAt: number | null,
  ): Promise<{ readonly view: SharedRunView; readonly secret: string } | undefined>
  list(user: UserId, page: PageQuery): Promise<Page<SharedRunView>>
  revoke(user: UserId, id: SharedRunId): Promise<boolean>
  /** Whose run a link leads to, while it does. */
  find(secret: string): Promise<{ readonly user: UserId; readonly run: RunId } | undefined>
}
