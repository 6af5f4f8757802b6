import { z } from "zod"
import type { Schema } from "../agent/definition/schema.ts"
import { Grant } from "../protocol/proposals/grant.ts"
import {
  ConversationPatch,
  ConversationQuery,
  DoubtChoice,
  MessageQuery,
  NewConversation,
  NewMessage,
  ProposalEdit,
  ProposalQuery,
  Rejection,
} from "../protocol/requests.ts"
import { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { TimeZone } from "../protocol/time/zone.ts"
import { lazily } from "../protocol/lazily.ts"

/**
 * What a program hands in, read by what the routes of a server read: types are a promise, and what JavaScript or a cast
 * lets through would be kept for good, as a mode that is none, say.
 */
export {
  ConversationPatch as GivenChange,
  DoubtChoice as GivenChoice,
  MessageQuery as GivenRange,
  ConversationQuery as GivenPage,
  ProposalQuery as GivenFilter,
  Rejection as GivenRejection,
  ReplySettings as GivenReply,
}

export const GivenApproval = lazily(() => z.strictObject({ uses: Grant.shape.uses.optional() }))

/** A body of a request is JSON by itself; an object of a program may be anything. */
export const GivenEdit = lazily(() =>
  ProposalEdit.refine(({ arguments: given }) => isJson(given), {
    path: ["arguments"],
    message: "holds something that JSON cannot say, such as a bigint or itself",
  }),
)

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

export const GivenQuestion = lazily(() =>
  z.strictObject({
    ...NewMessage.shape,
    ...NewConversation.pick({ agent: true, model: true, mode: true, title: true }).shape,
    conversation: z.string().optional(),
    answers: z
      .custom<Schema<unknown>>((value) => typeof value === "object", "must be a schema, such as zod's")
      .optional(),
    key: z.string().min(1, "an empty one names nothing").optional(),
    signal: z.instanceof(AbortSignal).optional(),
  }),
)

const place = lazily(() => z.string().min(1))

/** Within what `pawl serve` takes, too. */
const dollars = lazily(() => z.number().min(0).max(1_000_000).optional())

/** Header names and values that no request could have would be found out by the first batch, which nobody waits for. */
const words = lazily(() => z.record(z.string().regex(/^[\w.-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).optional())

const GivenTraces = lazily(() =>
  z.strictObject({
    endpoint: z.url({ protocol: /^https?$/, error: "must be an address such as http://127.0.0.1:4318" }),
    protocol: z.enum(["http/protobuf", "http/json"]).optional(),
    headers: words,
    serviceName: z.string().min(1).max(255).optional(),
    resource: z.record(z.string().min(1), z.string()).optional(),
    share: z.number().min(0).max(1).optional(),
    content: z.boolean().optional(),
  }),
)

/** A durability that is none would be less than either: nothing would be waited for. */
const GivenStore = lazily(() =>
  z.union(
    [
      place,
      z.strictObject({
        url: place,
        durability: z.enum(["full", "normal"]).optional(),
        connections: z.number().int().min(1).optional(),
        filesFolder: place.optional(),
      }),
    ],
    { error: 'must be a file, such as "pawl.db", or { url, durability, connections, filesFolder }' },
  ),
)

export const GivenSettings = lazily(() =>
  z.object({
    traces: GivenTraces.optional(),
    timeZone: TimeZone.optional(),
    settings: ReplySettings.optional(),
    store: GivenStore.optional(),
    limits: z
      .strictObject({
        runSeconds: z.number().min(1).max(86_400).optional(),
        replyCharacters: z.number().int().min(1000).max(4_000_000).optional(),
        proposalMinutes: z.number().min(0.01).max(525_600).optional(),
        dailyUsd: dollars,
        runUsd: dollars,
      })
      .optional(),
  }),
)

const aFunction = lazily(() =>
  z.custom<(...given: never[]) => unknown>((value) => typeof value === "function", "must be a function"),
)
/** Infinity is a limit that is none, and no number is no limit at all. */
const above = (least: number) =>
  z.custom<number>((value) => typeof value === "number" && value > least, `must be a number above ${least}`).optional()

const anyTool = lazily(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    version: z.number().optional(),
    // No run takes longer, and a timer that is set for a month or for ever rings at once.
    timeoutSeconds: z.number().positive().max(86_400, "at most 86400, which is a day").optional(),
    maxOutput: above(0),
    brings: z.enum(["outside", "private", "both"]).optional(),
    reaches: z.literal("outside").optional(),
    run: aFunction,
  }),
)

/** A tool decides by these words whether a person is asked: one that is misspelt must not pass for a read. */
export const GivenTool = lazily(() =>
  z.discriminatedUnion(
    "effect",
    [
      anyTool.extend({
        effect: z.literal("read"),
        afterCrash: z.enum(["run-again", "in-doubt"]).optional(),
        cacheSeconds: above(-1),
        sending: aFunction.optional(),
      }),
      anyTool
        .extend({
          effect: z.literal("write"),
          afterCrash: z.enum(["in-doubt", "run-again", "ask-target"]).optional(),
          preview: aFunction.optional(),
          inverse: z.union([z.literal(false), aFunction], "must be a function, or false").optional(),
          outcome: aFunction.optional(),
          bar: aFunction.optional(),
        })
        .refine(({ afterCrash, outcome }) => afterCrash !== "ask-target" || outcome, {
          path: ["outcome"],
          message: 'afterCrash: "ask-target" needs it, to ask',
        }),
    ],
    'must be "read", which runs at once, or "write", which a person is asked about',
  ),
)
