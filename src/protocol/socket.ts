import { z } from "zod"
import { GivenRow, isRow } from "./given-row.ts"
import { boundedList } from "./bounded-list.ts"
import { ChatContext } from "./chat-context.ts"
import { MAX_FILES } from "./conversation/message-file.ts"
import { DayOrMoment } from "./time/day.ts"
import { Proposal } from "./proposals/proposal.ts"
import { DoubtChoice } from "./requests.ts"
import { ids, JsonObject } from "./schema.ts"
import { TimeZone } from "./time/zone.ts"
import { lazily } from "./lazily.ts"

/**
 * What travels over `/api/ws`: JSON, one object a message, each with its `type`. Six frames (`chat_request`,
 * `tool_result`, `text_chunk`, `tool_call`, `final`, `ping`) are older than Pawl and keep their shape to the letter: they
 * may carry more than is known here. All others are strict, as requests over HTTP are.
 */

/** A larger frame closes the socket with 1009. */
export const MAX_FRAME_BYTES = 1024 * 1024
export const CLOSE = { revoked: 4401, silent: 4408, badFrame: 1008, tooLarge: 1009, goingDown: 1001 } as const
/** Silence is broken by a `ping` so often, and by one of the socket's own. */
export const PING_SECONDS = 30

const Name = lazily(() => z.string().trim().min(1).max(200))
/** Their rows are looked at by whoever asked for them. */
const Rows = lazily(() => listOf<JsonObject>(isRow, "a list of objects"))

export interface FoundVector {
  readonly id: string
  readonly content: string
  readonly score: number
}
const isMatch = (value: unknown): value is FoundVector =>
  isRow(value) && typeof value.id === "string" && typeof value.content === "string" && typeof value.score === "number"

/** Stops at the first that does not fit: a complaint about each of a hundred thousand would take seconds. */
function listOf<T>(fits: (value: unknown) => value is T, what: string) {
  return z.custom<T[]>((value) => Array.isArray(value) && value.every(fits), `expected ${what}`)
}

/** What a device may know beyond the older frames, and says so in its hello. Whoever does not is asked as ever. */
export const deviceKnowledge = ["pages", "expect", "hanging", "days", "cancel"] as const
export type DeviceKnowledge = (typeof deviceKnowledge)[number]

const MAX_CURSOR = 1000
const MAX_OFFERS = 64
const isOffers = (value: unknown) =>
  Array.isArray(value) &&
  value.length <= MAX_OFFERS &&
  value.every((offer) => typeof offer === "string" && offer.length <= 200)
/** At most as long as ids are made here, with room for those of others. */
const CallName = lazily(() => z.string().min(1).max(200))

/** Says something; the workspace tools of the run that follows execute on this socket. Needs `chat`. */
export const ChatRequest = lazily(() =>
  z.object({
    type: z.literal("chat_request"),
    message: z.string(),
    context: ChatContext.nullish(),
    /** Ids of files that were uploaded before, over HTTP. */
    files: boundedList(ids.file, MAX_FILES).nullish(),
  }),
)

/** What a device answers to a call. One of them, as the action has it; `error` is a sentence, and means: nothing was done. */
export const CallOutcome = lazily(() =>
  z.object({
    row: GivenRow.nullable().optional(),
    rows: Rows.optional(),
    results: listOf<FoundVector>(isMatch, "a list of {id, content, score}").optional(),
    deleted: z.boolean().optional(),
    ok: z.boolean().optional(),
    error: z.string().optional(),
    /** Beside the `row` of an update: as it was, so that an undo can bring it back. */
    before: GivenRow.optional(),
    /** Beside `deleted` and the `row` as it was: what went with it, by table, so that an undo can bring it back. */
    with: z.custom<Record<string, JsonObject[]>>(isRow, "expected an object of lists").optional(),
    /** Beside the `rows` of a page: there are more, and `after` this they begin. What is odd here is as absent: it was let be. */
    next: z.string().min(1).max(MAX_CURSOR).optional().catch(undefined),
    /** Beside the `rows` of a page: how many there are on all pages. */
    total: z.number().int().min(0).optional().catch(undefined),
  }),
)
export type CallOutcome = z.infer<typeof CallOutcome>

/** Counts once, and only from the socket that the call was sent to. */
export const ToolResult = lazily(() => CallOutcome.extend({ type: z.literal("tool_result"), id: CallName }))

/**
 * A device says who it is; the server repeats it when it is registered. The newest socket of a `deviceId` is the device.
 * `ledger`: it notes our call ids in the transaction that has their effect, so a call that comes twice is applied once.
 */
export const Hello = lazily(() =>
  z.object({
    type: z.literal("hello"),
    deviceId: Name,
    ledger: z.boolean().optional(),
    offers: z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} names`).default([]),
    /** `deviceKnowledge`; names that are not there are let be. */
    knows: z.custom<string[]>(isOffers, `expected at most ${MAX_OFFERS} names`).optional(),
  }),
)

/**
 * What a device says when it is asked about a call. `applied`: it was, with its outcome. `running`: it will say so when
 * it has ended. `unknown`: it has not been applied and nothing is under way; of a device without a ledger this is no proof.
 */
export const CallReport = lazily(() =>
  CallOutcome.extend({
    type: z.literal("tool_status"),
    id: CallName,
    status: z.enum(["applied", "running", "unknown"]),
  }),
)
export type CallReport = z.infer<typeof CallReport>

/** Shows a conversation from a cursor on, or the person's feed. Again: from the new cursor. Needs `read`. */
export const Attach = lazily(() =>
  z.strictObject({
    type: z.literal("attach"),
    conversationId: ids.conversation.optional(),
    after: z.string().max(40).optional(),
  }),
)
export const Detach = lazily(() =>
  z.strictObject({ type: z.literal("detach"), conversationId: ids.conversation.optional() }),
)

/** Needs `approve`. How it went is in the conversation's events; what went wrong is an `error` with the proposal's id. */
export const Decide = lazily(() =>
  z.strictObject({
    type: z.literal("decide"),
    proposalId: ids.proposal,
    decision: z.enum(["commit", "reject"]),
    reason: z.string().max(2000).nullish(),
  }),
)

/** Settles a write in doubt, as the HTTP route does. Needs `approve`; what went wrong is an `error` with the proposal's id. */
export const Resolve = lazily(() => DoubtChoice.extend({ type: z.literal("resolve"), proposalId: ids.proposal }))

/** Needs `chat`. */
export const Cancel = lazily(() => z.strictObject({ type: z.literal("cancel"), conversationId: ids.conversation }))

/** Either end may ask whether the other is there. Only who has said `hello` must answer. */
export const Ping = lazily(() => z.object({ type: z.literal("ping") }))
export const Pong = lazily(() => z.object({ type: z.literal("pong") }))

export const ClientFrame = lazily(() =>
  z.discriminatedUnion("type", [
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
  ]),
)
export type ClientFrame = z.infer<typeof ClientFrame>
export type ClientFrameOf<Type extends ClientFrame["type"]> = Extract<ClientFrame, { type: Type }>

/** Which conversation a frame of an answer belongs to. The older frames did without: whoever does not know it reads past it. */
const spokenIn = () => ({ conversationId: ids.conversation.optional() })

/** More of the answer. */
export const TextChunk = lazily(() => z.object({ type: z.literal("text_chunk"), text: z.string(), ...spokenIn() }))

/** Which rows a `select` or a `vector_search` may be asked for. A key that is not here is an error, null is as absent. */
export const DeviceFilters = lazily(() =>
  z.strictObject({
    projectId: z.string().nullish(),
    status: z.string().nullish(),
    search: z.string().nullish(),
    orderBy: z.string().nullish(),
    /** From the first moment of a day, to its last. */
    dueDateFrom: DayOrMoment.nullish(),
    dueDateTo: DayOrMoment.nullish(),
    /** Where days begin, when they are compared with moments; without, where the workspace is kept. */
    timeZone: TimeZone.nullish(),
    taskId: z.string().nullish(),
    clientId: z.string().nullish(),
    includeArchived: z.boolean().nullish(),
  }),
)
export type DeviceFilters = z.infer<typeof DeviceFilters>

export const readActions = ["select", "get", "hanging", "vector_search"] as const
export const writeActions = ["insert", "update", "delete", "restore", "vector_upsert", "vector_delete"] as const

/**
 * Asks the device for one thing. `get`, `delete` and `vector_delete` carry data {id}; `insert` the new row; `update`
 * {id, updates, expect?}; `restore` {rows, with?} as a delete gave them; `vector_upsert` {id, projectId, content} and
 * `vector`. Any other action is the name of a tool that the device offers, `data` its input, and {text, data?} its row.
 *
 * To a device that knows `pages`, a `select` may say `limit`, `after` (the `next` of the page before) and `columns` (no
 * others are wanted; `id` is among them). Of one that knows `expect`, a `delete` may say in its data what the row must
 * still hold (`expect`) and the ids of what goes with it by table (`with`): it checks both in the transaction of its
 * effect, as it does for an `update`. One that knows `hanging` answers `hanging {id}` with the `row` and, `with` it, what
 * would go or keeps it from going.
 */
export const ToolCall = lazily(() =>
  z.object({
    type: z.literal("tool_call"),
    /** Of a write: the call's own, for ever. The same id again is the same call. */
    id: CallName,
    action: z.string(),
    table: z.string().optional(),
    data: JsonObject.optional(),
    filters: DeviceFilters.optional(),
    vector: z.array(z.number()).optional(),
    limit: z.number().int().optional(),
    after: z.string().optional(),
    columns: z.array(z.string()).optional(),
    ...spokenIn(),
  }),
)
export type ToolCall = z.infer<typeof ToolCall>

/**
 * The answer to a `chat_request` ends; once for each, and last. After a failure or a cancel an `error` precedes it.
 * `paused`: the run waits for a person, and `response` says what for; what follows when they have decided ends with another.
 */
export const Final = lazily(() =>
  z.object({
    type: z.literal("final"),
    response: z.string(),
    status: z.literal("paused").optional(),
    ...spokenIn(),
  }),
)

/** Asks what has become of a call: nothing has been heard of it for too long. */
export const ToolStatus = lazily(() => z.object({ type: z.literal("tool_status"), id: CallName }))

/** Nobody wants what this call does any more: whoever knows `cancel` stops what can be stopped, and answers as ever. */
export const ToolCancel = lazily(() => z.object({ type: z.literal("tool_cancel"), id: CallName }))

/** The run waits for a person. The same in words, and a `final`, come behind it. */
export const AwaitingDecision = lazily(() =>
  z.object({ type: z.literal("awaiting_confirmation"), proposals: z.array(Proposal), ...spokenIn() }),
)

/** A frame of an attached stream, as `frames.ts` has it, with its own type inside. The feed's have no `conversationId`. */
export const EventFrame = lazily(() =>
  z.object({
    type: z.literal("event"),
    conversationId: ids.conversation.optional(),
    event: z.object({ id: z.string(), type: z.string(), data: z.unknown() }),
  }),
)

/** `id` is what it is about: a conversation, a proposal, a call. An attachment that ends by itself ends with one. */
export const ErrorFrame = lazily(() =>
  z.object({
    type: z.literal("error"),
    code: z.string(),
    message: z.string(),
    id: z.string().optional(),
  }),
)

/**
 * Another credential of the same person wants to be this device: it has `asked`, and the person decides; or it was
 * `allowed`, and this socket is no longer the device.
 */
export const DeviceClaimed = lazily(() =>
  z.object({
    type: z.literal("device_claim"),
    deviceId: z.string(),
    status: z.enum(["asked", "allowed"]),
  }),
)

export const ServerFrame = lazily(() =>
  z.discriminatedUnion("type", [
    TextChunk,
    ToolCall,
    Final,
    Ping,
    Pong,
    Hello,
    ToolStatus,
    ToolCancel,
    DeviceClaimed,
    AwaitingDecision,
    EventFrame,
    ErrorFrame,
  ]),
)
export type ServerFrame = z.infer<typeof ServerFrame>
export type ServerFrameOf<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>
