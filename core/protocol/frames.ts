import { z } from "zod"
import { ConversationView, RunError } from "./conversation/conversation.ts"
import { CallProgress } from "./conversation/tool-calls.ts"
import { CallStatus, Message, Usage } from "./conversation/message.ts"
import { Proposal } from "./proposals/proposal.ts"
import {
  AwaitingConfirmation,
  CallDelegated,
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

/**
 * The frames of a stream. Each journal event is one frame, with its position as id. `text_delta` has `position.offset`
 * as id; `reasoning_delta`, `tool_progress`, `usage`, `done` and `error` repeat the cursor of the frame before them.
 */

/** When the event was recorded. Every frame of an event has it. */
const at = z.string()

/**
 * Fields of events that are not part of the public frames: credentials, and internals of the loop and the audit log.
 */
const KEPT = ["credential", "asks", "shown", "change", "inverse", "brings", "trace"] as const
const HEAD = ["type", "version", "position", "at"] as const

type EventSchema<Type extends EventType> = Extract<
  (typeof JournalEvent)["options"][number],
  { readonly shape: { readonly type: z.ZodLiteral<Type> } }
>
type RowFrame<Type extends EventType> = z.ZodObject<
  Omit<EventSchema<Type>["shape"], (typeof HEAD)[number] | (typeof KEPT)[number]> & { at: typeof at }
>

/** Derives the frame's schema from an event that needs no further data. */
function rowFrame(event: EventSchema<EventType>): z.ZodObject {
  const left = new Set<string>([...HEAD, ...KEPT])
  const sent = Object.entries<z.ZodType>(event.shape).filter(([field]) => !left.has(field))
  return z.object({ ...Object.fromEntries(sent), at })
}

/** The data of a `message` frame: a user's message or a whole reply, and when it was recorded. */
export const MessageFrame = z.object({ message: Message, at })

/** Frames with data from earlier events, and frames that are not events. */
const shaped = {
  /** More text of the reply in progress. The `message` that follows has the whole text. */
  text_delta: z.object({ text: z.string() }),
  /**
   * More thinking of the reply in progress. It repeats the last cursor. `offset` is where this text ends in the
   * thinking for this reply; `ms` is the duration so far. It may start again from the beginning. The `message` has what
   * is stored of it.
   */
  reasoning_delta: z.object({ text: z.string(), offset: z.number().int(), ms: z.number() }),
  /**
   * Progress of a running call. It repeats the last cursor and is not stored; missed frames are not sent again. If a
   * tool reports several times within a moment, only the newest is sent.
   */
  tool_progress: CallProgress,
  message: MessageFrame,
  tool_start: z.object({ callId: ids.call, name: z.string(), input: JsonObject, at }),
  handed_over: z.object({ callId: ids.call, name: z.string(), input: JsonObject, expiresAt: z.string(), at }),
  tool_end: z.object({
    callId: ids.call,
    name: z.string(),
    status: CallStatus,
    text: z.string(),
    data: z.unknown().optional(),
    ms: z.number(),
    code: z.string().optional(),
    reusedFrom: ids.call.optional(),
    /** The id and `seq` of the tool's message. */
    messageId: ids.message,
    seq: z.number().int(),
    at,
  }),
  awaiting_confirmation: z.object({ proposals: z.array(Proposal), at }),
  proposal: z.object({
    proposal: Proposal,
    replaces: ids.proposal.optional(),
    approvedBy: z.string().optional(),
    at,
  }),
  run_ended: z.object({
    runId: ids.run,
    status: z.enum(["completed", "failed", "cancelled"]),
    reason: z.string().optional(),
    error: RunError.optional(),
    at,
  }),
  /** The run's usage so far. */
  usage: Usage.extend({ runId: ids.run }),
  error: RunError,
  done: z.object({ status: z.enum(["paused", "completed", "cancelled"]) }),
} as const

/** Every type of event, in the order of the reference. A new type without a line here does not compile. */
const rows: { readonly [Type in EventType]: EventSchema<Type> } = {
  conversation_started: ConversationStarted,
  settings: Settings,
  run_started: RunStarted,
  message: MessageAdded,
  step: Step,
  tool_start: ToolStart,
  handed_over: CallDelegated,
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

/** The frames of all other events, which are derived automatically. */
const plain = Object.fromEntries(Object.entries(rows).map(([type, event]) => [type, rowFrame(event)])) as {
  readonly [Type in Exclude<EventType, keyof typeof shaped>]: RowFrame<Type>
}

/** The schema of each frame type in a conversation's stream, by name. */
export const frames = { ...plain, ...shaped }

/**
 * The schemas of the frames in a user's feed, the stream with the changes of all conversations of one user. The first
 * frame is a snapshot; each later one has the current state of what changed.
 */
export const feedFrames = {
  snapshot: z.object({ conversations: z.array(ConversationView), proposals: z.array(Proposal) }),
  conversation: z.object({ conversation: ConversationView, proposals: z.array(Proposal) }),
  conversation_deleted: z.object({ conversationId: ids.conversation }),
  /**
   * Changed rows of the user's workspace on this server, and ids of deleted rows. Without `rows`, there are too many
   * changes: read the table again.
   */
  workspace: z.object({
    table: z.enum(tableNames),
    rows: z.array(WorkspaceRow).optional(),
    deleted: z.array(z.string()).optional(),
  }),
  /**
   * The collections that are being indexed, and their progress. Sent every few seconds until all are finished; the last
   * frame has an empty list.
   */
  ingest: z.object({ collections: z.array(IngestingCollection) }),
} as const

/** The type of a frame in the feed (the stream with the changes of all conversations of one user). */
export type FeedFrameType = keyof typeof feedFrames
/** A frame of the feed (the stream with the changes of all conversations of one user), or only those of one type. */
export type FeedFrame<Type extends FeedFrameType = FeedFrameType> = {
  [Each in Type]: { readonly id: string; readonly type: Each; readonly data: z.infer<(typeof feedFrames)[Each]> }
}[Type]

/** The type of a frame in a conversation's stream, such as `message` or `text_delta`. */
export type FrameType = keyof typeof frames
/** A frame of a conversation's stream, with a type that this version knows, or only those of one type. */
export type Frame<Type extends FrameType = FrameType> = {
  [Each in Type]: { readonly id: string; readonly type: Each; readonly data: z.infer<(typeof frames)[Each]> }
}[Type]
/** A frame of any type. A newer server can send types that this version does not know; they are passed on unchanged. */
export interface UnknownFrame {
  readonly id: string
  readonly type: string
  readonly data: unknown
}
