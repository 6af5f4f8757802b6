import { z } from "zod"
import { Brought } from "./brought.ts"
import { MessageFile } from "./message-file.ts"
import { CallStatus } from "./call-status.ts"
import { ids, JsonObject } from "../schema.ts"
import { Reasoning } from "./reasoning.ts"
import { ReplySettings } from "./reply-settings.ts"
import { lazily } from "../lazily.ts"

/** A message is made of parts, so that images and files can come without rewriting journals. */
export const TextPart = lazily(() => z.object({ type: z.literal("text"), text: z.string() }))

/** A model's private thinking. `model` wrote it and alone gets it back; `metadata` is its provider's, passed back untouched. */
export const ReasoningPart = lazily(() =>
  z.object({
    type: z.literal("reasoning"),
    text: z.string(),
    model: z.string(),
    metadata: z.unknown().optional(),
    /** How long it took, where it was seen to come. */
    ms: z.number().optional(),
  }),
)

/** A tool call. `invalidInput` keeps arguments that were not a JSON object, as the model wrote them. */
export const CallPart = lazily(() =>
  z.object({
    type: z.literal("call"),
    id: ids.call,
    name: z.string(),
    input: JsonObject,
    invalidInput: z.string().optional(),
    metadata: z.unknown().optional(),
  }),
)

export const Part = lazily(() => z.discriminatedUnion("type", [TextPart, ReasoningPart, CallPart]))
export type TextPart = z.infer<typeof TextPart>
export type ReasoningPart = z.infer<typeof ReasoningPart>
export type CallPart = z.infer<typeof CallPart>
export type Part = z.infer<typeof Part>

/** Whose key a model call was paid with: the person's own, or the operator's. */
export const PaidBy = lazily(() => z.enum(["own", "shared"]))
export type PaidBy = z.infer<typeof PaidBy>

/** What a model call used, as its provider counted; `null` where it does not say. */
export const Usage = lazily(() =>
  z.object({
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    /** Of the input: what was read from the provider's cache, and what was written into it. */
    cachedTokens: z.number().nullable().optional(),
    cacheWriteTokens: z.number().nullable().optional(),
    reasoningTokens: z.number().nullable().optional(),
    /** Dollars; null where the price is not known. */
    cost: z.number().nullable().optional(),
    provider: z.string().optional(),
    paidBy: PaidBy.optional(),
  }),
)
export type Usage = z.infer<typeof Usage>

/**
 * Why a reply ended. `limit` = the provider's output limit; `unknown` = the provider ended it in good order and did not say
 * why; `cancelled` = a person stopped it, `broken` = it failed: this is what was shown.
 */
export const Finish = lazily(() => z.enum(["stop", "calls", "limit", "refused", "unknown", "cancelled", "broken"]))
export type Finish = z.infer<typeof Finish>
/** How a model's own reply can end. */
export type ReplyFinish = Exclude<Finish, "cancelled" | "broken">

export const CallView = lazily(() => z.object({ id: ids.call, name: z.string(), input: JsonObject }))

/** A message as people and programs read it over the API. */
export const Message = lazily(() =>
  z.object({
    id: ids.message,
    seq: z.number().int(),
    role: z.enum(["user", "assistant", "tool"]),
    content: z.string(),
    toolCalls: z.array(CallView).nullable(),
    toolCallId: ids.call.nullable(),
    data: z.unknown().optional(),
    /** Of a person's words: what their program sent along, as the model was shown it. */
    brought: z.array(Brought).optional(),
    /** Of a person's words: how the model was to reply to them. */
    settings: ReplySettings.optional(),
    files: z.array(MessageFile).optional(),
    /** And the JSON schema that the answer had to fit. */
    schema: JsonObject.optional(),
    /** Of a tool's: how its call ended, and how long that took. */
    status: CallStatus.optional(),
    ms: z.number().optional(),
    /** Of a reply: why it ended, who wrote it, and what that has used. */
    finish: Finish.optional(),
    model: z.string().optional(),
    usage: Usage.optional(),
    /** And what that model thought before, as far as its provider tells it in words. */
    reasoning: Reasoning.optional(),
    /** Of a long one that is told with others: `content` is its beginning, and `length` is how long the whole is. */
    truncated: z.literal(true).optional(),
    length: z.number().int().optional(),
    createdAt: z.string(),
  }),
)
export type Message = z.infer<typeof Message>
