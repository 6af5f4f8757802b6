import { z } from "zod"
import { ConversationView } from "./conversation/conversation.ts"
import { CallProgress } from "./conversation/call-progress.ts"
import { CallStatus } from "./conversation/call-status.ts"
import { Message, Usage } from "./conversation/message.ts"
import { Proposal } from "./proposals/proposal.ts"
import { RunError } from "./conversation/run.ts"
import {
  AwaitingConfirmation,
  CallHandedOver,
  Compaction,
  ConversationStarted,
  Decision,
  type EventType,
  GrantRevoked,
  HistoryCut,
  InDoubt,
  LateResult,
  MessageAdded,
  ModelFallback,
  ProposalAdded,
  Resolution,
  Restarted,
  RunEnded,
  RunStarted,
  Settings,
  Step,
  ToolEnd,
  ToolStart,
  type JournalEvent,
} from "./events.ts"
import { IngestingCollection } from "./library.ts"
import { ids, JsonObject } from "./schema.ts"
import { WorkspaceRow } from "./workspace-file.ts"
import { tableNames } from "./workspace-tables.ts"
import { lazily } from "./lazily.ts"

/**
 * What a stream is made of. One row of the journal is one frame with its position as id; `text_delta` has
 * `position.offset`; `reasoning_delta`, `tool_progress`, `usage`, `done` and `error` are about what was told before them and repeat its cursor.
 */

/** When the row was recorded, on every frame that is a row. */
const at = lazily(() => z.string())

/** Fields of rows that no frame promises: who came in with what, and what the loop and the audit keep for themselves. */
const KEPT = ["credential", "asks", "shown", "change", "inverse", "brings", "trace"] as const
const HEAD = ["type", "version", "position", "at"] as const

type EventSchema<Type extends EventType> = Extract<
  (typeof JournalEvent)["options"][number],
  { readonly shape: { readonly type: z.ZodLiteral<Type> } }
>
type RowFrame<Type extends EventType> = z.ZodObject<
  Omit<EventSchema<Type>["shape"], (typeof HEAD)[number] | (typeof KEPT)[number]> & { at: typeof at }
>

/** The frame of a row that says all by itself. */
function rowFrame(event: EventSchema<EventType>): z.ZodObject {
  const left = new Set<string>([...HEAD, ...KEPT])
  return lazily(() => {
    const told = Object.entries<z.ZodType>(event.shape).filter(([field]) => !left.has(field))
    return z.object({ ...Object.fromEntries(told), at })
  })
}

export const MessageFrame = lazily(() => z.object({ message: Message, at }))

/** Rows that are shown with more than they hold, because what they name stands in rows before them; and what is no row. */
const shaped = {
  /** More of the reply that is open. Shown as it comes; the `message` that follows is the whole of it. */
  text_delta: lazily(() => z.object({ text: z.string() })),
  /**
   * More of what its model thinks before and between its words, for whoever watches: it moves no cursor, and repeats the one
   * that was told last. `offset` is where it ends in all that was thought for the open reply, `ms` how long that took so far.
   * It may come again from its beginning. The `message` holds what there is to keep of it.
   */
  reasoning_delta: lazily(() => z.object({ text: z.string(), offset: z.number().int(), ms: z.number() })),
  /**
   * How far a call is that runs, for whoever watches: it moves no cursor, is kept nowhere, and what is missed of it is not
   * told again. Of what its tool tells in a moment the newest counts.
   */
  tool_progress: CallProgress,
  message: MessageFrame,
  tool_start: lazily(() => z.object({ callId: ids.call, name: z.string(), input: JsonObject, at })),
  handed_over: lazily(() =>
    z.object({ callId: ids.call, name: z.string(), input: JsonObject, expiresAt: z.string(), at }),
  ),
  tool_end: lazily(() =>
    z.object({
      callId: ids.call,
      name: z.string(),
      status: CallStatus,
      text: z.string(),
      data: z.unknown().optional(),
      ms: z.number(),
      code: z.string().optional(),
      reusedFrom: ids.call.optional(),
      /** It is also the tool's message: its id and its place. */
      messageId: ids.message,
      seq: z.number().int(),
      at,
    }),
  ),
  awaiting_confirmation: lazily(() => z.object({ proposals: z.array(Proposal), at })),
  proposal: lazily(() =>
    z.object({
      proposal: Proposal,
      replaces: ids.proposal.optional(),
      approvedBy: z.string().optional(),
      at,
    }),
  ),
  run_ended: lazily(() =>
    z.object({
      runId: ids.run,
      status: z.enum(["completed", "failed", "cancelled"]),
      reason: z.string().optional(),
      error: RunError.optional(),
      at,
    }),
  ),
  /** What the run has used so far. */
  usage: lazily(() => Usage.extend({ runId: ids.run })),
  error: RunError,
  done: lazily(() => z.object({ status: z.enum(["paused", "completed", "cancelled"]) })),
} as const

/** Every type of row, in the order in which the reference lists them. One that has no line here does not compile. */
const rows: { readonly [Type in EventType]: EventSchema<Type> } = {
  conversation_started: ConversationStarted,
  settings: Settings,
  run_started: RunStarted,
  message: MessageAdded,
  step: Step,
  tool_start: ToolStart,
  handed_over: CallHandedOver,
  tool_end: ToolEnd,
  awaiting_confirmation: AwaitingConfirmation,
  proposal: ProposalAdded,
  decision: Decision,
  grant_revoked: GrantRevoked,
  in_doubt: InDoubt,
  resolution: Resolution,
  late_result: LateResult,
  restarted: Restarted,
  fallback: ModelFallback,
  history_cut: HistoryCut,
  compaction: Compaction,
  run_ended: RunEnded,
}

/** Every other type of row: a new one has its frame by itself. */
const plain = Object.fromEntries(Object.entries(rows).map(([type, event]) => [type, rowFrame(event)])) as {
  readonly [Type in Exclude<EventType, keyof typeof shaped>]: RowFrame<Type>
}

export const frames = { ...plain, ...shaped }

/** What a person's feed is made of: first how things stand, then each conversation that changed, as it stands then. */
export const feedFrames = {
  snapshot: lazily(() => z.object({ conversations: z.array(ConversationView), proposals: z.array(Proposal) })),
  conversation: lazily(() => z.object({ conversation: ConversationView, proposals: z.array(Proposal) })),
  conversation_deleted: lazily(() => z.object({ conversationId: ids.conversation })),
  /**
   * Rows of the person's workspace on this server as they stand now, and ids of those that are gone. Without `rows` too
   * much has changed to be told: read the table again.
   */
  workspace: lazily(() =>
    z.object({
      table: z.enum(tableNames),
      rows: z.array(WorkspaceRow).optional(),
      deleted: z.array(z.string()).optional(),
    }),
  ),
  /** Which of the person's collections are being read in, and how far each is; every few seconds until none is, which is told too. */
  ingest: lazily(() => z.object({ collections: z.array(IngestingCollection) })),
} as const

export type FeedFrameType = keyof typeof feedFrames
export type FeedFrame<Type extends FeedFrameType = FeedFrameType> = {
  [Each in Type]: { readonly id: string; readonly type: Each; readonly data: z.infer<(typeof feedFrames)[Each]> }
}[Type]

export type FrameType = keyof typeof frames
/** A frame of a type this build knows. */
export type Frame<Type extends FrameType = FrameType> = {
  [Each in Type]: { readonly id: string; readonly type: Each; readonly data: z.infer<(typeof frames)[Each]> }
}[Type]
/** A frame of a newer server: shown as it is. */
export interface UnknownFrame {
  readonly id: string
  readonly type: string
  readonly data: unknown
}
