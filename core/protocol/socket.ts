import { z } from "zod"
import { UncheckedRow, isRow, ids, JsonObject } from "./schema.ts"
import { boundedList } from "../shared/text/bounded-list.ts"
import { ChatContext } from "./chat-context.ts"
import { MAX_FILES } from "./conversation/message.ts"
import { DayOrMoment } from "../shared/time/day.ts"
import { Proposal } from "./proposals/proposal.ts"
import { DoubtChoice } from "./requests.ts"
import { TimeZone } from "../shared/time/zone.ts"

/**
 * The frames of `/api/ws`: JSON objects with a `type`, one per message. Six frames (`chat_request`, `tool_result`,
 * `text_chunk`, `tool_call`, `final`, `ping`) are older than Pawl and keep their exact form, and may have unknown
 * fields. All others are strict, like HTTP requests.
 */

/** The most bytes in a frame. A larger one closes the socket with 1009. */
export const MAX_FRAME_BYTES = 1024 * 1024
/** The most bytes in a device's answer while one is expected. A larger one is skipped, and only its call fails. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/**
 * The close codes of the WebSocket: `revoked` (access was revoked), `silent` (the other side sent nothing for too
 * long), `badFrame`, `tooLarge` and `goingDown` (the server stops).
 */
export const CLOSE = { revoked: 4401, silent: 4408, badFrame: 1008, tooLarge: 1009, goingDown: 1001 } as const
/** The interval of `ping` frames and of WebSocket pings, in seconds. */
export const PING_SECONDS = 30

const Name = z.string().trim().min(1).max(200)
/** The rows are validated by the code that requested them. */
const Rows = listOf<JsonObject>(isRow, "a list of objects")

/** A note that a device's semantic search found, with its similarity to the query. */
export interface FoundVector {
  readonly id: string
  readonly content: string
  readonly score: number
}
const isMatch = (value: unknown): value is FoundVector =>
  isRow(value) && typeof value.id === "string" && typeof value.content === "string" && typeof value.score === "number"

/** Stops at the first invalid element, because reporting an error for each of 100,000 elements would take seconds. */
function listOf<T>(fits: (value: unknown) => value is T, what: string) {
  return z.custom<T[]>((value) => Array.isArray(value) && value.every(fits), `expected ${what}`)
}

/**
 * Optional protocol features that a device lists in its `hello`. The server does not use a feature that the device has
 * not listed.
 */
export const deviceKnowledge = [
  "pages",
  "expect",
  "hanging",
  "days",
  "cancel",
  "approvals",
  "search",
  "vector_delete",
] as const
/** The name of an optional protocol feature that a device can support. */
export type DeviceKnowledge = (typeof deviceKnowledge)[number]

const MAX_CURSOR = 1000
const MAX_OFFERS = 64
/** At most 64 short strings. */
const isOffers = (value: unknown) =>
  Array.isArray(value) &&
  value.length <= MAX_OFFERS &&
  value.every((offer) => typeof offer === "string" && offer.length <= 200)
/** Treats null as absent, because many languages write it for absent keys. */
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => value ?? undefined, schema.optional()).optional()

/** Long enough for ids of the server and of other programs. */
const CallName = z.string().min(1).max(200)

/**
 * Sends a message to a conversation. The workspace tools of its run execute on the device of this socket. Needs the
 * scope `chat`.
 */
export const ChatRequest = z.object({
  type: z.literal("chat_request"),
  message: z.string(),
  context: ChatContext.nullish(),
  /** Ids of files uploaded over HTTP. */
  files: boundedList(ids.file, MAX_FILES).nullish(),
})

/**
 * A device's result of a tool call: the rows or the value that the action needs, or `error`, a sentence, which
 * means that nothing was done. See `CallStatus` for how the call ended.
 */
export const CallOutcome = z.object({
  row: UncheckedRow.nullable().optional(),
  rows: orNull(Rows),
  results: orNull(listOf<FoundVector>(isMatch, "a list of {id, content, score}")),
  deleted: orNull(z.boolean()),
  ok: orNull(z.boolean()),
  error: orNull(z.string()),
  /** With the `row` of an update: the row before, so that it can be undone. */
  before: orNull(UncheckedRow),
  /** With `deleted` and the `row` before: the rows that were deleted with it, by table, so that it can be undone. */
  with: orNull(z.custom<Record<string, JsonObject[]>>(isRow, "expected an object of lists")),
  /** With the `rows` of a page: the cursor for the next page. An invalid one is ignored. */
  next: z.string().min(1).max(MAX_CURSOR).optional().catch(undefined),
  /** With the `rows` of a page: the total number of rows. */
  total: z.number().int().min(0).optional().catch(undefined),
})
export type CallOutcome = z.infer<typeof CallOutcome>

/** A device's result of a tool call. It is accepted once, and only from the socket that the call was sent to. */
export const ToolResult = CallOutcome.extend({ type: z.literal("tool_result"), id: CallName })

/**
 * Registers a device; the server answers with the same frame. The newest socket of a `deviceId` is the device.
 * `ledger`: it stores call ids in the transaction that has their effect, so that a repeated call is applied once.
 */
export const Hello = z.object({
  type: z.literal("hello"),
  deviceId: Name,
  ledger: orNull(z.boolean()),
  offers: z
    .preprocess((value) => value ?? [], z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} names`))
    .default([]),
  /** Names in `deviceKnowledge`; unknown ones are ignored. */
  knows: orNull(z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} names`)),
  /** In the server's answer: the most bytes in an answer of the device. */
  limit: orNull(z.number()),
})

/**
 * The server's answer to a device's `hello`: the same fields, and, for a device that supports `approvals`,
 * `approvalKeys`. These are Ed25519 public keys (base64url); each change that the server then sends on this socket is
 * signed with each of them.
 */
export const HelloAnswer = Hello.extend({
  approvalKeys: z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} keys`).optional(),
})

/**
 * A device's report about a call. `applied`: it was applied, with this outcome. `running`: the device will report its
 * end. `unknown`: it was not applied and is not running; without a ledger, this is no proof.
 */
export const CallReport = CallOutcome.extend({
  type: z.literal("tool_status"),
  id: CallName,
  status: z.enum(["applied", "running", "unknown"]),
})
export type CallReport = z.infer<typeof CallReport>

/**
 * Subscribes to a conversation from a cursor, or to the user's feed. Sending it again moves to the new cursor. Needs
 * `read`.
 */
export const Attach = z.strictObject({
  type: z.literal("attach"),
  conversationId: orNull(ids.conversation),
  after: orNull(z.string().max(40)),
})
/** Ends a subscription to a conversation or, without `conversationId`, to the feed of all conversations. */
export const Detach = z.strictObject({ type: z.literal("detach"), conversationId: orNull(ids.conversation) })

/**
 * Decides about a proposal, which is a change that needs approval. Needs the scope `approve`. The outcome is in the
 * events of the conversation; an error has the id of the proposal.
 */
export const Decide = z.strictObject({
  type: z.literal("decide"),
  proposalId: ids.proposal,
  decision: z.enum(["commit", "reject"]),
  reason: z.string().max(2000).nullish(),
})

/** Resolves a write in doubt, like the HTTP route. Needs `approve`; an error has the proposal's id. */
export const Resolve = DoubtChoice.extend({ type: z.literal("resolve"), proposalId: ids.proposal })

/** Cancels the active run. Needs `chat`. */
export const Cancel = z.strictObject({ type: z.literal("cancel"), conversationId: ids.conversation })

/** Either end can check the connection. Only a device that sent `hello` must answer. */
export const Ping = z.object({ type: z.literal("ping") })
/** The answer to a `ping`. */
export const Pong = z.object({ type: z.literal("pong") })

/** Any frame that a client or a device sends to the server over the WebSocket. */
export const ClientFrame = z.discriminatedUnion("type", [
  ChatRequest,
  ToolResult,
  Hello,
  CallReport,
  Attach,
  Detach,
  Decide,
  Resolve,
  Cancel,
  Ping,
  Pong,
])
export type ClientFrame = z.infer<typeof ClientFrame>
/** The client frame with this `type`. */
export type ClientFrameOf<Type extends ClientFrame["type"]> = Extract<ClientFrame, { type: Type }>

/** The conversation of a frame. The older frames did not have it, so clients may ignore it. */
const spokenIn = () => ({ conversationId: ids.conversation.optional() })

/** More text of the reply. */
export const TextChunk = z.object({ type: z.literal("text_chunk"), text: z.string(), ...spokenIn() })

/** The filters of a `select` or `vector_search`. An unknown key is an error; null is treated as absent. */
export const DeviceFilters = z.strictObject({
  projectId: z.string().nullish(),
  status: z.string().nullish(),
  search: z.string().nullish(),
  orderBy: z.string().nullish(),
  /** Inclusive, from the start of the first day to the end of the last. */
  dueDateFrom: DayOrMoment.nullish(),
  dueDateTo: DayOrMoment.nullish(),
  /** The time zone for comparing days with timestamps. Default: the zone of the workspace's machine. */
  timeZone: TimeZone.nullish(),
  taskId: z.string().nullish(),
  clientId: z.string().nullish(),
  includeArchived: z.boolean().nullish(),
})
export type DeviceFilters = z.infer<typeof DeviceFilters>

/** The workspace actions of a device that change nothing. */
export const readActions = ["select", "get", "hanging", "vector_search"] as const
/** The workspace actions of a device that change rows or vectors. */
export const writeActions = ["insert", "update", "delete", "restore", "vector_upsert", "vector_delete"] as const

/**
 * Asks the device for one action. `get`, `delete` and `vector_delete` have data {id}; `insert` the new row; `update`
 * {id, updates, expect?}; `restore` {rows, with?} as a delete returned them; `vector_upsert` {id, projectId, content}
 * and `vector`. Any other action is the name of a tool of the device; `data` is its input, and its row is {text,
 * data?}.
 *
 * If the device supports `pages`, a `select` can have `limit`, `after` (the `next` of the previous page) and `columns`
 * (the only ones needed; they include `id`). If it supports `expect`, the data of a `delete` can have the values that
 * the row must still have (`expect`) and the ids that are deleted with it by table (`with`); the device checks both in
 * the transaction of the delete, as for an `update`. If it supports `hanging`, it answers `hanging {id}` with the `row`
 * and, in `with`, the rows that would be deleted with it or prevent its deletion.
 */
export const ToolCall = z.object({
  type: z.literal("tool_call"),
  /** For a write: its permanent id. A repeated id is the same call. */
  id: CallName,
  action: z.string(),
  table: z.string().optional(),
  data: JsonObject.optional(),
  filters: DeviceFilters.optional(),
  vector: z.array(z.number()).optional(),
  limit: z.number().int().optional(),
  after: z.string().optional(),
  columns: z.array(z.string()).optional(),
  /** For a change: the server's signatures of the call's id, the device and the content (`approvalText`). */
  approvals: z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} signatures`).optional(),
  ...spokenIn(),
})
export type ToolCall = z.infer<typeof ToolCall>

/**
 * The end of the response to a `chat_request`; sent once for each. After a failure or cancellation, an `error` precedes
 * it. `paused`: the run waits for a person, and `response` says what for; after the decision, the rest ends with
 * another `final`.
 */
export const Final = z.object({
  type: z.literal("final"),
  response: z.string(),
  status: z.literal("paused").optional(),
  ...spokenIn(),
})

/** Asks for the status of a call that has not been answered for too long. */
export const ToolStatus = z.object({ type: z.literal("tool_status"), id: CallName })

/** The call's result is no longer needed. A device that supports `cancel` stops what it can, and still answers. */
export const ToolCancel = z.object({ type: z.literal("tool_cancel"), id: CallName })

/** The run waits for approval. Followed by the same as text, and a `final`. */
export const AwaitingDecision = z.object({
  type: z.literal("awaiting_confirmation"),
  proposals: z.array(Proposal),
  ...spokenIn(),
})

/**
 * One event of a stream that the socket subscribed to with `attach`. Events of the feed (the changes of all
 * conversations) have no `conversationId`.
 */
export const EventFrame = z.object({
  type: z.literal("event"),
  conversationId: ids.conversation.optional(),
  event: z.object({ id: z.string(), type: z.string(), data: z.unknown() }),
})

/**
 * `id` is the conversation, proposal or call that the error is about. A subscription that the server ends also ends
 * with one.
 */
export const ErrorFrame = z.object({
  type: z.literal("error"),
  code: z.string(),
  message: z.string(),
  id: z.string().optional(),
})

/**
 * Another credential of the same user wants to be this device. `asked`: the user must decide. `allowed`: this socket is
 * no longer the device.
 */
export const DeviceClaimed = z.object({
  type: z.literal("device_claim"),
  deviceId: z.string(),
  status: z.enum(["asked", "allowed"]),
})

/** Any frame that the server sends over the WebSocket. */
export const ServerFrame = z.discriminatedUnion("type", [
  TextChunk,
  ToolCall,
  Final,
  Ping,
  Pong,
  HelloAnswer,
  ToolStatus,
  ToolCancel,
  DeviceClaimed,
  AwaitingDecision,
  EventFrame,
  ErrorFrame,
])
export type ServerFrame = z.infer<typeof ServerFrame>
/** The server frame with this `type`. */
export type ServerFrameOf<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>
