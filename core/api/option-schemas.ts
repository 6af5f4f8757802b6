import { z } from "zod"
import type { Schema } from "../engine/definition/schema.ts"
import { Grant } from "../protocol/proposals/proposal.ts"
import { NewConversation, NewMessage, ProposalEdit } from "../protocol/requests.ts"
import { MAX_FILES } from "../protocol/conversation/message.ts"
import { NewToken } from "../protocol/account/sign-in.ts"
import { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { boundedList } from "../shared/text/bounded-list.ts"
import { TimeZone } from "../shared/time/zone.ts"

/*
 * Schemas that validate options from programs, in addition to those of the HTTP routes. Types alone do not stop JavaScript
 * or a cast from passing an invalid value, such as an unknown mode, which would then be stored.
 */

/** The body of `POST /api/tokens`, with the user of the token. */
export const TokenSchema = NewToken.extend({ user: z.string() })

export const ApprovalSchema = z.strictObject({ uses: Grant.shape.uses.optional() })

/** The body of an HTTP request is always JSON; an object from a program might not be. */
export const EditSchema = ProposalEdit.refine(({ arguments: given }) => isJson(given), {
  path: ["arguments"],
  message: "holds something that JSON cannot say, such as a bigint or itself",
})

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

const answerSchema = z
  .custom<Schema<unknown>>((value) => typeof value === "object", "must be a schema, such as zod's")
  .optional()

const AttachedFile = z.preprocess(
  (file) => (file instanceof File ? { name: file.name, data: file } : file),
  z.strictObject({
    name: z.string().min(1),
    data: z.union([z.instanceof(Uint8Array), z.instanceof(Blob)], "must be a Uint8Array or a Blob"),
    type: z.string().optional(),
  }),
)

export const QuestionSchema = z.strictObject({
  ...NewMessage.omit({ workFiles: true }).shape,
  files: boundedList(AttachedFile, MAX_FILES).optional(),
  ...NewConversation.pick({ agent: true, model: true, mode: true, title: true }).shape,
  conversation: z.string().optional(),
  answers: answerSchema,
  key: z.string().min(1, "an empty one names nothing").optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

const place = z.string().min(1)
const aFunction = z.custom<(...given: never[]) => unknown>((value) => typeof value === "function", "must be a function")

/** The same range as `pawl serve` accepts. */
const dollars = z.number().min(0).max(1_000_000).optional()

/** Rejects invalid headers here. Otherwise the first export batch would fail in the background. */
const words = z.record(z.string().regex(/^[\w.-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).optional()

const TracesSchema = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/, error: "must be an address such as http://127.0.0.1:4318" }),
  protocol: z.enum(["http/protobuf", "http/json"]).optional(),
  headers: words,
  serviceName: z.string().min(1).max(255).optional(),
  resource: z.record(z.string().min(1), z.string()).optional(),
  share: z.number().min(0).max(1).optional(),
  content: z.boolean().optional(),
})

/** An unknown durability would be treated as weaker than either known one. */
const StoreSchema = z.union(
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
)

const origin = z.url({ protocol: /^https?$/, error: "must be an address such as https://app.example" })

const HttpSchema = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[^?#]*[^/?#]$/, 'must start with "/" and not end with it, such as "/pawl"')
    .optional(),
  publicUrl: origin.optional(),
  allowedOrigins: z.array(origin).optional(),
  dataFolder: place.optional(),
  user: aFunction.optional(),
  embedder: z.looseObject({ name: z.string(), embed: aFunction }).optional(),
})

/** Refuses unknown names, because a misspelt option would silently have no effect. */
export const OptionsSchema = z.strictObject({
  models: z.unknown(),
  agents: z.array(z.unknown(), "must be a list of agents").optional(),
  log: z.unknown().optional(),
  packs: z.array(z.unknown(), "must be a list of packs, from definePack").optional(),
  titleModel: z.string().min(1).optional(),
  summaryModel: z.string().min(1).optional(),
  // `readServer` checks the rest of each, as it does an operator's file.
  mcp: z.array(z.looseObject({ name: z.string() }), "must be a list of servers, such as { name, url }").optional(),
  clock: z.looseObject({ now: aFunction, alarm: aFunction }, "must be a clock, such as testClock()").optional(),
  http: HttpSchema.optional(),
  traces: TracesSchema.optional(),
  timeZone: TimeZone.optional(),
  settings: ReplySettings.optional(),
  store: StoreSchema.optional(),
  limits: z
    .strictObject({
      runSeconds: z.number().min(1).max(86_400).optional(),
      replyCharacters: z.number().int().min(1000).max(4_000_000).optional(),
      proposalMinutes: z.number().min(0.01).max(525_600).optional(),
      dailyUsd: dollars,
      runUsd: dollars,
    })
    .optional(),
})

/** Rejects NaN and Infinity, which would disable a limit. */
const above = (least: number) =>
  z.custom<number>((value) => typeof value === "number" && value > least, `must be a number above ${least}`).optional()

const anyTool = z.object({
  name: z.string(),
  description: z.string(),
  version: z.number().optional(),
  // No run takes longer, and a timer beyond 24 days fires immediately.
  timeoutSeconds: z.number().positive().max(86_400, "at most 86400, which is a day").optional(),
  maxOutput: above(0),
  taint: z.enum(["untrusted", "private", "both"]).optional(),
  egress: z.literal(true).optional(),
  run: aFunction,
})

/** These fields decide whether a person is asked, so a misspelt value must not pass as a read. */
export const ToolSchema = z.discriminatedUnion(
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
)

const text = z.string().optional()

/** Refuses unknown fields: a misspelt `instruction` would silently have no effect. */
export const AgentSchema = z.strictObject({
  name: z.string().min(1),
  description: text,
  instructions: text,
  tools: z.array(z.looseObject({})).optional(), // checked one by one
  maxIterations: z.int().min(1).optional(),
  fallback: z.array(z.string()).optional(),
  settings: ReplySettings.optional(),
  answers: answerSchema,
  ground: aFunction.optional(),
})
