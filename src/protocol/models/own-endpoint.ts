import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { isModelId } from "./model-id.ts"
import { lazily } from "../lazily.ts"

const MAX_MODELS = 200
const MAX_HEADERS = 20
/** All of them together, names and values: they are stored, opened and sent with each other. */
const MAX_HEADER_CHARACTERS = 8000

/** What a connection decides by itself. */
const UNSETTABLE = /^(?:host|connection|content-length|content-type|transfer-encoding|upgrade|te)$/i

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i

const HeaderValue = lazily(() =>
  z
    .string()
    .max(8000)
    .regex(/^[\x20-\x7e]+$/, { message: "must be plain characters on one line" }),
)

const Dollars = lazily(() => z.number().min(0).max(1_000_000))

const OwnModel = lazily(() =>
  z.strictObject({
    /** As the endpoint calls it. */
    id: z
      .string()
      .regex(/^[^\s\p{Cc}]{1,200}$/u, { message: "must be what the endpoint calls it, without spaces" })
      .refine(isModelId, { message: "must have no hidden characters" }),
    contextTokens: z.int().min(1000).max(100_000_000).optional(),
    /** Dollars per million tokens. */
    price: z
      .strictObject({ input: Dollars, output: Dollars, cached: Dollars.optional(), cacheWrite: Dollars.optional() })
      .optional(),
  }),
)

const Flag = lazily(() => z.boolean().optional())

const Quirks = lazily(() =>
  z.strictObject({
    ...{ countsUnasked: Flag, forgetsThinking: Flag, shortCallIds: Flag, answersResults: Flag, takesTurns: Flag },
    ...{ refusesBlanks: Flag, callsAtWill: Flag, thinksInTags: Flag, writesLoosely: Flag },
  }),
)

/** What an endpoint of a person's own is, beside its address and its key. */
export const endpointFields = {
  /** What it speaks: OpenAI's chat completions, or Anthropic's messages. */
  kind: lazily(() => z.enum(["openai", "anthropic"])),
  /** Sent with every request, and told again only by their names. */
  headers: lazily(() =>
    z
      .record(z.string().max(100), HeaderValue)
      .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, { message: `must be at most ${MAX_HEADERS}` })
      .refine((headers) => Object.entries(headers).flat().join("").length <= MAX_HEADER_CHARACTERS, {
        message: `must have ${MAX_HEADER_CHARACTERS} characters at most, all together`,
      })
      .refine((headers) => Object.keys(headers).every((name) => NAME.test(name) && !UNSETTABLE.test(name)), {
        message: "one of these is no name of a header, or cannot be set",
      }),
  ),
  /** What lists show; any other goes by `name/id`, too. */
  models: lazily(() => boundedList(OwnModel, MAX_MODELS)),
  /** What it is odd in. */
  quirks: Quirks,
}

/** As it is stored. */
export interface EndpointFacts {
  readonly kind: "openai" | "anthropic"
  readonly headers?: Record<string, string>
  readonly models?: z.infer<typeof OwnModel>[]
  readonly quirks?: z.infer<typeof Quirks>
}

/** As it is shown. */
export const EndpointView = lazily(() =>
  z.object({
    kind: endpointFields.kind,
    hasKey: z.boolean(),
    /** Only their names. */
    headers: z.array(z.string()),
    models: z.array(OwnModel),
    quirks: Quirks.optional(),
  }),
)
