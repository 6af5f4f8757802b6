import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Agents } from "./agent.ts"
import type { Clock } from "./clock.ts"
import type { Journal } from "./journal.ts"
import type { Model } from "./model.ts"
import type { Limits } from "./next-step.ts"
import type { ReadCache } from "./read-cache.ts"

/** Everything the loop needs from outside, handed in by whoever composes the program. */
export interface Ports {
  readonly journal: Journal
  readonly models: Models
  readonly agents: Agents
  readonly clock: Clock
  readonly bus: Bus
  readonly cache: ReadCache
  readonly limits: Limits
  readonly policy: Policy
  readonly log: Log
}

/** The models of this server. */
export interface Models {
  /** By name or alias; null means the default. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  get(name: string | null): Promise<Model>
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
  /** Rows of any conversation of a person, for whoever looks at all of them; no rows at all when it was erased. */
  subscribeUser(user: UserId, listener: (id: ConversationId, events: readonly JournalEvent[]) => void): () => void
  /** The reply that is open, as far as it has come; undefined where none is, or where its writer is out of reach. */
  soFar(id: ConversationId): Promise<OpenReply | undefined>
  /** Tells the writer of a conversation, wherever it is (also on this very node), that something has arrived. */
  wake(id: ConversationId): void
  onWake(listener: (id: ConversationId) => void): () => void
}

/** The text of the reply that is open after `position`. */
export interface OpenReply {
  readonly position: number
  readonly text: string
}

export type Live =
  /** Rows that are durable now. */
  | { readonly type: "events"; readonly user: UserId; readonly events: readonly JournalEvent[] }
  /** Text of the reply that is open after `position`; `offset` is where it ends. Shown, never stored. */
  | { readonly type: "text_delta"; readonly position: number; readonly offset: number; readonly text: string }
  /** The writer has nothing left to do. */
  | { readonly type: "rest" }
  /** The conversation was erased: there is nothing to watch any more. */
  | { readonly type: "gone"; readonly user: UserId }

/** Where the program tells its operator what happens and what went wrong; a line has a name and fields, never a secret. */
export interface Log {
  info(event: string, fields: Record<string, unknown>): void
  warn(event: string, fields: Record<string, unknown>): void
  error(event: string, fields: Record<string, unknown>): void
}
