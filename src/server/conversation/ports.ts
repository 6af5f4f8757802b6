import type { Agents } from "../../agent/definition/agent.ts"
import type { Clock } from "../../agent/clock.ts"
import type { DevicePlace } from "../../agent/devices.ts"
import type { Journal } from "../../agent/journal.ts"
import type { Bus, Log, ModelSource, Policy } from "../../agent/ports.ts"
import type { Runtime } from "../../agent/runtime/runtime.ts"
import type { HandedCall, ListedModel, MessagesRead, Page } from "../../protocol/answers.ts"
import type { ModelEndpoint } from "../../protocol/models/model-facts.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { Message } from "../../protocol/conversation/message.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import type { AuditId, ConnectionId, ConversationId, MessageId, ProposalId, RunId, UserId } from "../../protocol/ids.ts"
import type { AuditEntry } from "../../protocol/proposals/audit.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { ConversationQuery, PageQuery, ProposalQuery } from "../../protocol/requests.ts"

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
  readonly databases: OwnedDatabases
  readonly devices: PresentDevices
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
  handedOver(id: ConversationId, upTo: number): Promise<HandedCall[]>
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

/** The models as one person may use them. */
export interface ModelCatalogue {
  /** What is known. */
  list(user: UserId): Promise<ListedModel[]>
  /** The same for somebody who looks at it, which has endpoints asked that list their models. */
  look?(user: UserId, look: ModelLook): Promise<{ items: ListedModel[]; endpoints: ModelEndpoint[] }>
  /** Whose model this is, without a list of them all; null where there is none of this name. */
  providerOf?(name: string, user: UserId): Promise<string | null>
  /** Throws `no_model_selected` where a conversation has to choose. */
  defaultName(user: UserId): Promise<string>
}
