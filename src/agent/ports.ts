import type { JournalEvent } from "../protocol/events.ts"
import type { CallProgress } from "../protocol/conversation/call-progress.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import type { FileText } from "../protocol/ports/message-files.ts"
import type { ConversationId, FileId, RunId, UserId } from "../protocol/ids.ts"
import type { PaidBy } from "../protocol/conversation/message.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { Agents } from "./definition/agent.ts"
import type { ToolJoining } from "./definition/joined-tools.ts"
import type { Schema } from "./definition/schema.ts"
import type { Clock } from "./clock.ts"
import type { Journal } from "./journal.ts"
import type { Model } from "./model.ts"
import type { Limits } from "./next-step.ts"
import type { ReadCache } from "./calls/read-cache.ts"

/** Everything the loop needs from outside, handed in by whoever composes the program. */
export interface Ports {
  readonly journal: Journal
  readonly models: ModelSource
  /** Who answers, in this order, where a conversation's model cannot and neither it nor its agent says who does. */
  readonly fallback?: readonly string[]
  /** Which model is asked for the title of a conversation after its first answer; without one none is. */
  readonly titleModel?: string
  /** Without one no ceiling holds, and no call is held up by asking. */
  readonly budget?: Budget
  /** What came with messages; without it no message has files. */
  readonly files?: FileContents
  readonly agents: Agents
  /** Tools of other people's servers; without it no agent has any. */
  readonly joining?: ToolJoining
  /** How models are to reply, where neither agent, conversation nor message says otherwise. */
  readonly settings?: ReplySettings
  /** Reads a JSON schema that somebody wants an answer to fit. Throws `bad_request` for one that is none, or takes too long. */
  answerSchema?(json: JsonObject): Promise<Schema<unknown>>
  readonly clock: Clock
  /** The server's own zone: what counts as the day of a person who has not told theirs. */
  readonly timeZone: string
  readonly bus: Bus
  readonly cache: ReadCache
  readonly limits: Limits
  readonly policy: Policy
  readonly log: Log
  /** Which model sums up what has grown too long: without, the conversation's own; `none`, nobody. */
  readonly summaryModel?: string
  /** What this process knows and no tool may tell: taken out of every result before it is kept or told. */
  readonly secrets?: Iterable<string>
}

/** What is in the files of messages, for whoever shows them to a model. Undefined where their person has removed one; throws
 * `file_unreadable` where its bytes are lost or out of reach. */
export interface FileContents {
  bytes(user: UserId, id: FileId): Promise<Uint8Array | undefined>
  /** As far as the first `most` characters. What cannot be read says why; the same each time it is asked. */
  text(
    file: { readonly user: UserId; readonly id: FileId; readonly type: string },
    asked: AskedText,
  ): Promise<FileText | undefined>
}

export interface AskedText {
  readonly most: number
  readonly signal: AbortSignal
}

/** The models of this server, as each person may use them: some bring keys of their own. */
export interface ModelSource {
  /** By name or alias; null means the default. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  get(name: string | null, user: UserId): Promise<Model>
}

/** Ceilings on what model calls cost, kept by reservation: what could not be set aside is not sent. */
export interface Budget {
  /** Sets the worst case of a call aside. Undefined where no ceiling holds for it. Throws `over_budget`. */
  reserve(call: ModelCallPlan): Promise<Reservation | undefined>
  /** Lets go of it. `spent` is for a reply that broke off: a whole one has told the journal what it cost. */
  settle(reservation: Reservation, spent?: Spent): Promise<void>
}

export interface ModelCallPlan {
  readonly conversation: ConversationId
  readonly run: RunId
  readonly user: UserId
  readonly model: Model
  /** Estimated. */
  readonly inputTokens: number
  /** The longest reply that is wanted; the usual worst case without. */
  readonly maxOutputTokens?: number | undefined
}

/** What is set aside for a call. If its process dies, it is let go of when the conversation goes on, or after a while. */
export interface Reservation extends ModelCallPlan {
  readonly id: string
  /** Dollars. */
  readonly cost: number
  /** What the cost was worked out with: the model must be told not to write more. */
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

/** What an operator has decided about writes. */
export interface Policy {
  readonly proposalMinutes: number
  readonly forbidAuto: boolean
}

/** Carries what is happening to whoever watches. Losing something here costs a moment, never truth. */
export interface Bus {
  publish(id: ConversationId, live: Live): void
  subscribe(id: ConversationId, listener: (live: Live) => void): () => void
  /** What has happened in any conversation of a person, for whoever looks at all of them; nothing when it was erased. */
  subscribeUser(user: UserId, listener: (id: ConversationId, happened: readonly Happened[]) => void): () => void
  /** Tells who watches all of a person's things in this process that another one has changed some of them. */
  publishNews(user: UserId, kind: NewsKind): void
  /** Tells the other processes that this one has: those in which somebody watches publish it there. */
  spreadNews(user: UserId, kind: NewsKind): void
  subscribeNews(user: UserId, listener: (kind: NewsKind) => void): () => void
  /** What somebody in this process watches: whatever other processes write there has to be looked for. */
  watched(): Watched
  /** The reply that is open, as far as it has come; undefined where none is, or where its writer is out of reach. */
  soFar(id: ConversationId): Promise<LiveReply | undefined>
  /** Tells the writer of a conversation, wherever it is (also on this very node), that something has arrived. */
  wake(id: ConversationId): void
  onWake(listener: (id: ConversationId, from: "here" | "elsewhere") => void): () => void
  /** Tells the other processes that some credential counts no longer. */
  spreadRevoked(): void
  onRevoked(listener: () => void): () => void
  /** Whether other processes are heard at once. Where they are not, what they do has to be looked for. */
  hearsOthers(): boolean
  /** Calls back when something of the others may have gone unheard, so that the record has to be looked at: of these, or of all. */
  onDoubt(listener: (about?: Watched) => void): () => void
}

/** What somebody watches: conversations, and all things of people. */
export interface Watched {
  readonly conversations: Iterable<ConversationId>
  readonly people: Iterable<UserId>
}

/** Of something that has happened, what it was. */
export interface Happened {
  readonly type: string
}

export const newsKinds = ["conversations", "workspace", "library"] as const
export type NewsKind = (typeof newsKinds)[number]

/** The text of the reply that is open after `position`. */
export interface LiveReply {
  readonly position: number
  readonly text: string
  /** What was thought for it. */
  readonly thought?: LiveThought
}

export interface LiveThought {
  readonly text: string
  readonly ms: number
}

export type Live =
  /** Rows that are durable now. */
  | { readonly type: "events"; readonly user: UserId; readonly events: readonly JournalEvent[] }
  /**
   * Text of the reply that is open after `position`; `offset` is where it ends. Shown, never stored. In its writer's own process
   * `reply` has all of it, so that nobody need keep it a second time.
   */
  | {
      readonly type: "text_delta"
      readonly position: number
      readonly offset: number
      readonly text: string
      readonly reply?: { readonly shown: string }
    }
  /** The same of what is thought for it: `offset` is where it ends in all of that, `ms` how long it took so far. */
  | {
      readonly type: "reasoning_delta"
      readonly position: number
      readonly offset: number
      readonly text: string
      readonly ms: number
    }
  /** How far a call is that runs. Shown, never stored. */
  | ({ readonly type: "tool_progress" } & Readonly<CallProgress>)
  /** The writer has nothing left to do. */
  | { readonly type: "rest" }
  /** The person has seen something of it that is no row: what is listed of it for them has changed. */
  | { readonly type: "seen"; readonly user: UserId }
  /** What the record says where other processes write too: how far it goes, and whether anybody is at work on it. */
  | { readonly type: "recorded"; readonly position: number; readonly atWork: boolean }
  /** The conversation was erased: there is nothing to watch any more. Whose it was is unknown where another process did it. */
  | { readonly type: "gone"; readonly user: UserId | undefined }

/** Where the program tells its operator what happens and what went wrong; a line has a name and fields, never a secret. */
export interface Log {
  info(event: string, fields: Record<string, unknown>): void
  warn(event: string, fields: Record<string, unknown>): void
  error(event: string, fields: Record<string, unknown>): void
}
