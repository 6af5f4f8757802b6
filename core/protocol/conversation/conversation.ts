import { z } from "zod"
import { ids, Mode } from "../schema.ts"
import { Usage } from "./message.ts"
import { ReplySettings } from "./reply-settings.ts"

/**
 * The status of a conversation. `awaiting_confirmation`: changes wait for the user's approval. `failed`: the last run
 * failed.
 */
export const ConversationStatus = z.enum(["active", "running", "awaiting_confirmation", "failed"])
export type ConversationStatus = z.infer<typeof ConversationStatus>

/** A conversation as the API returns it. */
export const ConversationView = z.object({
  id: ids.conversation,
  title: z.string().nullable(),
  agent: z.string(),
  provider: z.string().nullable(),
  /** The model; null if there is no default model and none was chosen. */
  model: z.string().nullable(),
  /** False if the conversation uses the default model and follows its changes. */
  modelChosen: z.boolean().optional(),
  mode: Mode,
  status: ConversationStatus,
  site: z.enum(["server", "device"]),
  deviceId: z.string().nullable(),
  connectionId: z.string().nullable(),
  /** The reply settings of this conversation. The agent and the server can add more. */
  settings: ReplySettings.optional(),
  position: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type ConversationView = z.infer<typeof ConversationView>

/** The status of a run. `paused`: it waits for a person or a client. */
export const RunStatus = z.enum(["running", "paused", "completed", "failed", "cancelled"])
export type RunStatus = z.infer<typeof RunStatus>

/** Why a run is paused: it waits for a person or for the client. */
export const PauseReason = z.enum(["awaiting_confirmation", "in_doubt", "awaiting_client"])
export type PauseReason = z.infer<typeof PauseReason>

/** Why a run failed: a stable error code and a sentence. */
export const RunError = z.object({ code: z.string(), message: z.string() })
export type RunError = z.infer<typeof RunError>

/** The processing of one user message. A run can pause and continue, and its limits apply to all of it. */
export const Run = z.object({
  id: ids.run,
  conversationId: ids.conversation,
  status: RunStatus,
  iteration: z.number().int(),
  maxIterations: z.number().int(),
  pauseReason: PauseReason.nullable(),
  error: RunError.nullable(),
  /** The model of the latest reply; null if there is none, or if an older version did not record it. */
  model: z.string().nullable(),
  usage: Usage.nullable(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
})
export type Run = z.infer<typeof Run>

/** An event of the journal, as recorded. For an event of a newer version, `body` has its content. */
export const RecordedEvent = z.looseObject({
  type: z.string(),
  version: z.number().int(),
  position: z.number().int(),
  /** Milliseconds since 1970. */
  at: z.number().int(),
})
export type RecordedEvent = z.infer<typeof RecordedEvent>

/** Events of a run in order. Pass `nextAfter` as `after` to read the next page; it is null on the last. */
export const RunJournal = z.object({ items: z.array(RecordedEvent), nextAfter: z.number().int().nullable() })
export type RunJournal = z.infer<typeof RunJournal>

/** Query parameters for the events of a run. */
export const RunJournalQuery = z.object({
  /** Only events after this position. */
  after: z.coerce.number().int().min(0).default(0),
})

/**
 * A link with which other users of the server can read one run. `core/server/conversation/to-shared-row.ts` decides what
 * it shows.
 */

const MAX_DAYS = 365

/** The body of a request that creates a link to a run. Users of the server who have the link can read the run. */
export const NewSharedRun = z.strictObject({
  /** For how many days the link is valid; null: until it is revoked. */
  days: z.number().int().min(1).max(MAX_DAYS).nullable().default(7),
})

/** A link to a run, as the API lists it, without its secret. */
export const SharedRunView = z.object({
  id: ids.sharedRun,
  runId: ids.run,
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
})
export type SharedRunView = z.infer<typeof SharedRunView>

/**
 * A new link to a run. `path` is the address of the page that shows it; it has the secret after `#`, which browsers do
 * not send to the server. Returned only once.
 */
export const CreatedSharedRun = SharedRunView.extend({ secret: z.string(), path: z.string() })

/**
 * Returns the path of the page that shows a shared run. The secret is after `#`, which browsers do not send to the
 * server.
 */
export const sharedRunPath = (secret: string): string => `/shared#${secret}`

/** The body of a request that reads a shared run. The secret is not in the address, because addresses are logged. */
export const SharedRunSecret = z.strictObject({
  secret: z.string().min(1).max(200),
  after: RunJournalQuery.shape.after,
})

/** The run's events as other users see them, numbered from 1. */
export const SharedRun = z.object({
  run: Run.pick({ status: true, model: true, error: true, startedAt: true, endedAt: true }),
  items: z.array(RecordedEvent),
  nextAfter: z.number().int().nullable(),
})
export type SharedRun = z.infer<typeof SharedRun>

/** How much of the context window a conversation uses, and its cost so far. */
export const ContextMeter = z.object({
  /** The tokens of the next request: the provider's latest count, plus an estimate of what was added since. */
  usedTokens: z.number().int(),
  /** True if there is no count yet: the value is an estimate without instructions and tools. */
  estimated: z.boolean(),
  /** The size of the context window in tokens; null if it is unknown. */
  limitTokens: z.number().int().nullable(),
  /** The cost in US dollars, including summaries; null if no price is known. */
  costUsd: z.number().nullable(),
})
export type ContextMeter = z.infer<typeof ContextMeter>
