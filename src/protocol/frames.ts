import { z } from "zod"
import { ConversationView } from "./conversation/conversation.ts"
import { CallStatus } from "./conversation/call-status.ts"
import { Message, Usage } from "./conversation/message.ts"
import { Proposal } from "./proposals/proposal.ts"
import { RunError } from "./conversation/run.ts"
import { ids, JsonObject, Mode } from "./schema.ts"
import { AskedModel } from "./conversation/stages.ts"
import { WorkspaceRow } from "./workspace-file.ts"
import { tableNames } from "./workspace-tables.ts"

/**
 * What a stream is made of. One row of the journal is one frame with its position as id; `text_delta` has
 * `position.offset`; `usage`, `done` and `error` are about the rows before them and repeat their cursor.
 */

/** When the row was recorded, on every frame that is a row. */
const at = z.string()

const place = {
  site: z.enum(["server", "device"]).optional(),
  deviceId: z.string().nullable().optional(),
  connectionId: ids.connection.nullable().optional(),
}

export const MessageFrame = z.object({ message: Message, at })

export const frames = {
  conversation_started: z.object({
    agent: z.string(),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    mode: Mode,
    title: z.string().nullable(),
    ...place,
    forkedFrom: z.object({ conversation: ids.conversation, position: z.number().int() }).optional(),
    at,
  }),
  settings: z.object({
    model: z.string().optional(),
    provider: z.string().optional(),
    mode: Mode.optional(),
    title: z.string().optional(),
    ...place,
    at,
  }),
  run_started: z.object({
    runId: ids.run,
    maxIterations: z.number().int(),
    /** The run takes back this applied write. */
    undoes: ids.audit.optional(),
    /** The run proposes this expired one once more. */
    again: ids.proposal.optional(),
    /** What counts as the person's day while it works. */
    timeZone: z.string().optional(),
    at,
  }),
  step: z.object({ step: z.string(), detail: z.unknown().optional(), asked: AskedModel.optional(), at }),
  /** More of the reply that is open. Shown as it comes; the `message` that follows is the whole of it. */
  text_delta: z.object({ text: z.string() }),
  message: MessageFrame,
  tool_start: z.object({ callId: ids.call, name: z.string(), input: JsonObject, at }),
  tool_end: z.object({
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
  awaiting_confirmation: z.object({ proposals: z.array(Proposal), at }),
  proposal: z.object({
    proposal: Proposal,
    replaces: ids.proposal.optional(),
    approvedBy: z.string().optional(),
    at,
  }),
  decision: z.object({
    proposalId: ids.proposal,
    decision: z.enum(["commit", "reject", "edit"]),
    by: z.string(),
    reason: z.string().optional(),
    arguments: JsonObject.optional(),
    grant: z.object({ uses: z.number().int() }).optional(),
    at,
  }),
  grant_revoked: z.object({ tool: z.string().optional(), by: z.string(), at }),
  in_doubt: z.object({ callId: ids.call, because: z.string(), at }),
  resolution: z.object({ callId: ids.call, choice: z.enum(["retry", "done", "abandon"]), by: z.string(), at }),
  late_result: z.object({
    callId: ids.call,
    status: z.enum(["ok", "error"]),
    text: z.string(),
    data: z.unknown().optional(),
    at,
  }),
  /** The attempt at the open step died: text shown since the last row belongs to it and is gone. */
  restarted: z.object({
    because: z.enum(["crash", "handover", "provider"]),
    detail: z.string().optional(),
    blame: z.enum(["shared", "none"]).optional(),
    at,
  }),
  history_cut: z.object({ seq: z.number().int(), tokens: z.number(), at }),
  run_ended: z.object({
    runId: ids.run,
    status: z.enum(["completed", "failed", "cancelled"]),
    reason: z.string().optional(),
    error: RunError.optional(),
    at,
  }),
  /** What the run has used so far. */
  usage: Usage.extend({ runId: ids.run }),
  error: RunError,
  done: z.object({ status: z.enum(["paused", "completed", "cancelled"]) }),
} as const

/** What a person's feed is made of: first how things stand, then each conversation that changed, as it stands then. */
export const feedFrames = {
  snapshot: z.object({ conversations: z.array(ConversationView), proposals: z.array(Proposal) }),
  conversation: z.object({ conversation: ConversationView, proposals: z.array(Proposal) }),
  conversation_deleted: z.object({ conversationId: ids.conversation }),
  /**
   * Rows of the person's workspace on this server as they stand now, and ids of those that are gone. Without `rows` too
   * much has changed to be told: read the table again.
   */
  workspace: z.object({
    table: z.enum(tableNames),
    rows: z.array(WorkspaceRow).optional(),
    deleted: z.array(z.string()).optional(),
  }),
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
