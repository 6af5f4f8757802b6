import { type Log } from "../shared/log.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { CallProgress } from "../protocol/conversation/tool-calls.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import type { FileText } from "./stored-files.ts"
import type { ConversationId, FileId, RunId, UserId } from "../protocol/ids.ts"
import type { PaidBy } from "../protocol/conversation/message.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { Agents } from "./definition/agent.ts"
import type { ToolJoining } from "./definition/joined-tools.ts"
import type { Schema } from "./definition/schema.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { Journal } from "./journal.ts"
import type { Policy } from "./gate/policy.ts"
import type { Model } from "./model.ts"
import type { Limits } from "./next-step.ts"
import type { ReadCache } from "./calls/read-cache.ts"

/** The interfaces of everything that the loop uses. The program that composes the server provides them. */
export interface Ports {
  readonly journal: Journal
  readonly models: ModelSource
  /** The models to try, in this order, if the conversation's model fails and neither it nor its agent names others. */
  readonly fallback?: readonly string[]
  /** The model that writes a conversation's title after its first answer. Without it, titles are not generated. */
  readonly titleModel?: string
  /** Cost limits. Without it, no limit applies and calls reserve nothing. */
  readonly budget?: Budget
  /** The contents of attached files. Without it, messages have no files. */
  readonly files?: FileContents
  readonly agents: Agents
  readonly room: StorageRoom
  /** Tools of connected MCP servers. Without it, agents only have their own tools. */
  readonly joining?: ToolJoining
  /** Default reply settings. Settings of the agent, the conversation or the message take precedence. */
  readonly settings?: ReplySettings
  /**
   * Compiles a JSON schema for answers. Throws `bad_request` if the schema is invalid or takes too long to compile, and
   * `too_many` if too many compilations of this user are waiting.
   */
  answerSchema?(json: JsonObject, person: UserId): Promise<Schema<unknown>>
  readonly clock: Clock
  /** The server's time zone, for users whose zone is unknown. */
  readonly timeZone: string
  readonly bus: Bus
  readonly cache: ReadCache
  readonly limits: Limits
  readonly policy: Policy
  readonly log: Log
  /**
   * The model that summarizes long conversations. Default: the conversation's own model. `none` turns summaries off.
   */
  readonly summaryModel?: string
  /** Secrets of this process. They are removed from every result before it is stored or sent. */
  readonly secrets?: Iterable<string>
  /**
   * Returns true if a terminal on this machine uses the conversation's folder. The server does not continue such runs.
   */
  isOfTerminal?(id: ConversationId): boolean
}

/**
 * Reads the contents of attached files, to show them to a model. Returns undefined if the user deleted the file; throws
 * `file_unreadable` if its bytes are lost or unreachable.
 */
export interface FileContents {
  bytes(user: UserId, id: FileId): Promise<Uint8Array | undefined>
  /**
   * Extracts the first `most` characters as text. If the file cannot be read, the result says why, with the same text
   * each time.
   */
  text(
    file: { readonly user: UserId; readonly id: FileId; readonly type: string },
    asked: TextRequest,
  ): Promise<FileText | undefined>
}

export interface TextRequest {
  readonly most: number
  readonly signal: AbortSignal
}

/** The models of this server for each user, because users can have their own API keys. */
export interface ModelSource {
  /**
   * Finds a model by name or alias; null means the default. Throws `unknown_model`, `not_configured` or
   * `no_model_selected`.
   */
  get(name: string | null, user: UserId): Promise<Model>
}

/** Checks the storage quota of a user. Both methods reject with `storage_full` if the quota is used up. */
export interface StorageRoom {
  demandRoom(user: UserId): Promise<void>
  /** Checks the quota of the conversation's owner. */
  demandRoomFor(conversation: ConversationId): Promise<void>
}

/**
 * Cost limits for model calls. Each call reserves its highest possible cost, and is not sent if the reservation fails.
 */
export interface Budget {
  /** Reserves the highest possible cost of a call. Returns undefined if no limit applies. Throws `over_budget`. */
  reserve(call: ModelCallPlan): Promise<Reservation | undefined>
  /**
   * Releases a reservation. `spent` is the cost of an interrupted reply; the cost of a whole reply is in the journal.
   */
  settle(reservation: Reservation, spent?: Spent): Promise<void>
}

export interface ModelCallPlan {
  readonly conversation: ConversationId
  readonly run: RunId
  /** For a run of a sub-agent: the run whose limit includes this call. */
  readonly rootRun?: RunId | undefined
  readonly user: UserId
  readonly model: Model
  /** An estimate. */
  readonly inputTokens: number
  /** The most output tokens. Default: the usual worst case. */
  readonly maxOutputTokens?: number | undefined
}

/**
 * The reserved cost of a call. If the process fails, it is released when the conversation continues, or after a
 * timeout.
 */
export interface Reservation extends ModelCallPlan {
  readonly id: string
  /** In US dollars. */
  readonly cost: number
  /** The output limit that the cost is based on. It must be sent to the model. */
  readonly maxOutputTokens: number
}

export interface Spent {
  readonly model: string
  readonly provider: string
  readonly paidBy: PaidBy
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number
}

/**
 * Delivers live events to subscribers. A lost event delays the display and nothing else, because the journal has it.
 */
export interface Bus {
  publish(id: ConversationId, live: Live): void
  subscribe(id: ConversationId, listener: (live: Live) => void): () => void
  /**
   * Subscribes to events in all conversations of a user. When a conversation is deleted, the listener receives an empty
   * list.
   */
  subscribeUser(user: UserId, listener: (id: ConversationId, happened: readonly Happened[]) => void): () => void
  /** Reports to subscribers in this process that another process changed a user's data. */
  publishNews(user: UserId, kind: NewsKind): void
  /** Reports to other processes that this process changed a user's data. They publish it to their own subscribers. */
  spreadNews(user: UserId, kind: NewsKind): void
  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void
  /** Returns what is subscribed to in this process. Changes of it by other processes must be polled for. */
  watched(): Watched
  /** Returns the reply in progress; undefined if there is none or its writer is unreachable. */
  soFar(id: ConversationId): Promise<LiveReply | undefined>
  /** Notifies the writer of a conversation, on any node including this one, that input has arrived. */
  wake(id: ConversationId): void
  onWake(listener: (id: ConversationId, from: "here" | "elsewhere") => void): () => void
  /** Notifies other processes that a credential was revoked. */
  spreadRevoked(): void
  onRevoked(listener: () => void): () => void
  /** Returns true if events of other processes arrive immediately. Otherwise they must be polled for. */
  hearsOthers(): boolean
  /**
   * Calls the listener if events of other processes may have been lost, so that it rereads the store: for these
   * subscriptions, or for all.
   */
  onDoubt(listener: (about?: Watched) => void): () => void
}

/** Subscriptions: to conversations, and to all data of users. */
export interface Watched {
  readonly conversations: Iterable<ConversationId>
  readonly people: Iterable<UserId>
}

/** The type of an event. */
export interface Happened {
  readonly type: string
}

export const newsKinds = ["conversations", "workspace", "library"] as const
export type NewsKind = (typeof newsKinds)[number]

/** The text so far of the reply that starts after `position`. */
export interface LiveReply {
  readonly position: number
  readonly text: string
  /** The thinking so far. */
  readonly thought?: LiveThought
}

export interface LiveThought {
  readonly text: string
  readonly ms: number
}

export type Live =
  /** Events that are now stored. */
  | { readonly type: "events"; readonly user: UserId; readonly events: readonly JournalEvent[] }
  /**
   * Text of the reply that starts after `position`; `offset` is where this text ends. It is not stored. In the writer's
   * process, `reply` has the whole text, so that subscribers need no copy.
   */
  | {
      readonly type: "text_delta"
      readonly position: number
      readonly offset: number
      readonly text: string
      readonly reply?: { readonly shown: string }
    }
  /** Thinking of the same reply. `offset` is where this text ends; `ms` is the duration so far. */
  | {
      readonly type: "reasoning_delta"
      readonly position: number
      readonly offset: number
      readonly text: string
      readonly ms: number
    }
  /** Progress of a running call. It is not stored. */
  | ({ readonly type: "tool_progress" } & Readonly<CallProgress>)
  /** The writer is idle. */
  | { readonly type: "rest" }
  /** Listed data of the conversation has changed for this user without a new event. */
  | { readonly type: "seen"; readonly user: UserId }
  /** The state of the journal if other processes write too: its length, and whether a writer is active. */
  | { readonly type: "recorded"; readonly position: number; readonly atWork: boolean }
  /** The conversation was deleted. The user is unknown if another process deleted it. */
  | { readonly type: "gone"; readonly user: UserId | undefined }
