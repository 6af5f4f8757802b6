import type { DelegatedCall } from "../../protocol/answers.ts"
import type { ConversationView, Run } from "../../protocol/conversation/conversation.ts"
import type { CallId, ConversationId, MessageId, RunId } from "../../protocol/ids.ts"
import { type Message, type Part, reasoningOf } from "../../protocol/conversation/message.ts"
import { type NOTICE_EVENTS, type NoticeView, toNotice } from "../../protocol/notices.ts"
import type { StepView } from "../../protocol/conversation/stages.ts"
import { defaultFinish } from "../engine/event-rows.ts"
import { toDollars, toTime } from "../engine/row-values.ts"

/** Converts rows to the API's format: camelCase, times as ISO 8601. */

export interface ConversationRow {
  readonly key: number
  readonly id: ConversationId
  readonly title: string | null
  readonly agent: string
  readonly provider: string | null
  readonly model: string | null
  readonly mode: ConversationView["mode"]
  readonly status: ConversationView["status"]
  readonly device: string | null
  readonly connection: string | null
  readonly settings: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly position: number
}

export function toConversationView(row: ConversationRow): ConversationView {
  const { id, title, agent, provider, model, mode, status, position } = row
  const site = row.device === null ? "server" : "device"
  const where = { site, deviceId: row.device || null, connectionId: row.connection } as const
  const times = { createdAt: toTime(row.created_at), updatedAt: toTime(row.updated_at) }
  const settings = row.settings === null ? {} : { settings: JSON.parse(row.settings) as ConversationView["settings"] }
  return { id, title, agent, provider, model, mode, status, ...where, ...settings, position, ...times }
}

export interface RunRow {
  readonly id: RunId
  readonly conversation_id: ConversationId
  readonly status: Run["status"]
  readonly iteration: number
  readonly max_iterations: number
  readonly pause_reason: Run["pauseReason"]
  readonly error_code: string | null
  readonly error_message: string | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  /** In millionths of a dollar. */
  readonly cost: number | null
  readonly model: string | null
  readonly started_at: number
  readonly ended_at: number | null
}

export function toRunView(row: RunRow): Run {
  const {
    id,
    status,
    iteration,
    model,
    error_code: code,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost,
  } = row
  return {
    id,
    conversationId: row.conversation_id,
    status,
    iteration,
    maxIterations: row.max_iterations,
    pauseReason: row.pause_reason,
    error: code === null ? null : { code, message: row.error_message ?? "" },
    model,
    usage: inputTokens === null && outputTokens === null ? null : { inputTokens, outputTokens, cost: toDollars(cost) },
    startedAt: toTime(row.started_at),
    endedAt: row.ended_at === null ? null : toTime(row.ended_at),
  }
}

type MessageBody = { readonly parts?: readonly Part[] } & Pick<
  Message,
  "data" | "brought" | "files" | "settings" | "schema" | "status" | "ms" | "finish" | "model" | "usage"
>

/** A message from the columns of its event. */
export function toMessage(row: Record<string, unknown>): Message {
  const body = row.body === null ? {} : (JSON.parse(row.body as string) as MessageBody)
  const reasoning = body.parts && reasoningOf(body.parts)
  const { finish = defaultFinish(row.role as Message["role"], row.tool_calls !== null), model, usage } = body
  return {
    id: row.message_id as MessageId,
    seq: row.seq as number,
    role: row.role as Message["role"],
    content: (row.content as string | null) ?? "",
    toolCalls: row.tool_calls === null ? null : (JSON.parse(row.tool_calls as string) as Message["toolCalls"]),
    toolCallId: row.call_id as CallId | null,
    ...(body.data === undefined ? {} : { data: body.data }),
    ...(body.brought ? { brought: body.brought } : {}),
    ...(body.settings ? { settings: body.settings } : {}),
    ...(body.files ? { files: body.files } : {}),
    ...(body.schema ? { schema: body.schema } : {}),
    // Default values are not stored: see event-rows.ts.
    ...(row.role === "tool" ? { status: body.status ?? "ok", ms: body.ms ?? 0 } : {}),
    ...(finish ? { finish } : {}),
    ...(model ? { model } : {}),
    ...(usage ? { usage } : {}),
    ...(reasoning ? { reasoning } : {}),
    createdAt: toTime(row.at as number),
  }
}

/** An event that is shown between messages: a step or a notice. */
export interface BetweenMessagesRow {
  readonly position: number
  readonly type: string
  readonly at: number
  readonly body: string | null
  readonly after: number
}

export function toDelegatedCall(body: string | null): DelegatedCall {
  const { callId, expiresAt } = JSON.parse(body ?? "{}") as { callId: CallId; expiresAt: number }
  return { callId, expiresAt: toTime(expiresAt) }
}

export function toStep({ position, at, body, after }: BetweenMessagesRow): StepView {
  const { step, detail, asked } = JSON.parse(body ?? "{}") as Partial<Pick<StepView, "step" | "detail" | "asked">>
  return { position, after, step: step ?? "", detail, at: toTime(at), ...(asked ? { asked } : {}) }
}

/** Undefined if it is not shown. */
export function toNoticeView({ position, type, at, body, after }: BetweenMessagesRow): NoticeView | undefined {
  const notice = toNotice(type as (typeof NOTICE_EVENTS)[number], JSON.parse(body ?? "{}"))
  return notice && { position, after, ...notice, at: toTime(at) }
}
