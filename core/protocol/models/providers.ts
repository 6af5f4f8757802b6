import { z } from "zod"
import { boundedList, boundedRecord } from "../../shared/text/bounded-list.ts"
import { escapeHidden } from "../../shared/text/hidden-characters.ts"

/** True for a valid model name. One with hidden characters would look like another in a menu. */
export const isModelId = (id: string): boolean => /^[^\s\p{Cc}]{1,200}$/u.test(id) && escapeHidden(id) === id

const MAX_MODELS = 200
const MAX_HEADERS = 20
/** All of them together, names and values: they are stored, opened and sent with each other. */
const MAX_HEADER_CHARACTERS = 8000

/** The settings of a connection. */
const UNSETTABLE = /^(?:host|connection|content-length|content-type|transfer-encoding|upgrade|te)$/i

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i

const HeaderValue = z
  .string()
  .max(8000)
  .regex(/^[\x20-\x7e]+$/, { message: "must be plain characters on one line" })

const Dollars = z.number().min(0).max(1_000_000)

const OwnModel = z.strictObject({
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
})

const Flag = z.boolean().optional()

const Quirks = z.strictObject({
  ...{ countsUnasked: Flag, forgetsThinking: Flag, shortCallIds: Flag, answersResults: Flag, takesTurns: Flag },
  ...{ refusesBlanks: Flag, callsAtWill: Flag, thinksInTags: Flag, writesLoosely: Flag },
})

/** The properties of a user's own endpoint, except its address and its key. */
const endpointFields = {
  /** The API: OpenAI's chat completions, or Anthropic's messages. */
  kind: z.enum(["openai", "anthropic"]),
  /** Sent with every request. Responses contain only the names. */
  headers: boundedRecord(z.record(z.string().max(100), HeaderValue), MAX_HEADERS)
    .refine((headers) => Object.entries(headers).flat().join("").length <= MAX_HEADER_CHARACTERS, {
      message: `must have ${MAX_HEADER_CHARACTERS} characters at most, all together`,
    })
    .refine((headers) => Object.keys(headers).every((name) => NAME.test(name) && !UNSETTABLE.test(name)), {
      message: "one of these is not a valid header name, or cannot be set",
    }),
  /** The models in lists. Other models can be used as `name/id`. */
  models: boundedList(OwnModel, MAX_MODELS),
  /** How it differs from the API. */
  quirks: Quirks,
}

/** The properties as they are stored. */
export interface EndpointFacts {
  readonly kind: "openai" | "anthropic"
  readonly headers?: Record<string, string>
  readonly models?: z.infer<typeof OwnModel>[]
  readonly quirks?: z.infer<typeof Quirks>
}

/** The properties as responses show them. */
const EndpointView = z.object({
  kind: endpointFields.kind,
  hasKey: z.boolean(),
  /** Only their names. */
  headers: z.array(z.string()),
  models: z.array(OwnModel),
  quirks: Quirks.optional(),
})

/** A model provider, as one user sees it. API keys are never returned, only whether one is `configured`. */
export const ProviderView = z.object({
  name: z.string(),
  configured: z.boolean(),
  /** Whose credentials are used: the user's own, the operator's, or none. */
  source: z.enum(["own", "shared"]).nullable(),
  /** The user's own address. The operator's address is not returned. */
  baseUrl: z.string().optional(),
  /** Further settings of the provider, each with the user's value unless it is secret. */
  fields: z
    .array(z.object({ name: z.string(), says: z.string(), isSecret: z.boolean(), value: z.string().optional() }))
    .optional(),
  /** The reason why the provider cannot be used. */
  need: z.string().nullable(),
  /** True for an endpoint that the operator added: users cannot set their own key. */
  operatorOnly: z.literal(true).optional(),
  /** True if the stored credentials can no longer be decrypted. */
  lost: z.literal(true).optional(),
  /** An endpoint that the user added. */
  endpoint: EndpointView.optional(),
})
export type ProviderView = z.infer<typeof ProviderView>

/**
 * Keys are sent in HTTP headers. Other characters would be rejected by the HTTP client, with an error that could quote
 * the key.
 */
const Key = z
  .string()
  .trim()
  .max(4000)
  .regex(/^[\x21-\x7e]+$/, { message: "must be plain characters without spaces" })

const BaseUrl = z.string().trim().max(2000).refine(isPlainAddress, {
  message: "must be an address such as https://models.example/v1, without password and ?",
})

/** Only a key in PEM format has several lines. */
const Field = z
  .string()
  .trim()
  .max(8000)
  .regex(/^[\x20-\x7e]+$|^-----BEGIN [\x20-\x7e\r\n]+$/, { message: "must be plain characters on one line" })

const MAX_FIELDS = 20

const Fields = boundedRecord(z.record(z.string().max(40), Field), MAX_FIELDS)

/**
 * A user's credentials for a provider. They replace all stored ones, so that a stored key is never sent to a new
 * address.
 */
export const NewAccess = z.strictObject({
  apiKey: Key.nullish(),
  baseUrl: BaseUrl.nullish(),
  /** Further settings, by their names in the provider's `fields`. */
  fields: Fields.nullish(),
  /** Adds an endpoint of the user's own, under a name that no provider has. `headers` and `models` belong to it. */
  kind: endpointFields.kind.optional(),
  headers: endpointFields.headers.optional(),
  models: endpointFields.models.optional(),
  quirks: endpointFields.quirks.optional(),
})
export type NewAccess = z.infer<typeof NewAccess>

/**
 * Changes to a user's endpoint; omitted fields stay as they are. If the address changes, the stored key and headers are
 * removed.
 */
export const ChangedEndpoint = z
  .strictObject({
    apiKey: Key.nullable(),
    baseUrl: BaseUrl,
    ...endpointFields,
  })
  .partial()
export type ChangedEndpoint = z.infer<typeof ChangedEndpoint>

/** The address is returned later, so it must not contain secrets. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) return false
  return url.username === "" && url.password === "" && !/[?#]/.test(text)
}

/** A model's abilities besides text. */
export const modelFeatures = ["tools", "images", "files", "reasoning"] as const
/** A feature that a model can support besides text. */
export type Feature = (typeof modelFeatures)[number]

/**
 * The source of a fact: the endpoint, the catalogue that ships with Pawl, the operator (or the user who added the
 * endpoint), or an assumption.
 */
export const FactSource = z.enum(["endpoint", "catalogue", "operator", "assumed"])
export type FactSource = z.infer<typeof FactSource>

/** Which features a model supports besides text. */
export const ModelAbilities = z.object({
  tools: z.boolean(),
  images: z.boolean(),
  files: z.boolean(),
  reasoning: z.boolean(),
})
export type ModelAbilities = z.infer<typeof ModelAbilities>

/** US dollars per million tokens. */
export const ModelPrice = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number().optional(),
  cacheWrite: z.number().optional(),
})

/** The source of each fact about a model; an unknown price has none. */
export const FactSources = z.object({
  contextTokens: FactSource,
  price: FactSource.optional(),
  ...{ tools: FactSource, images: FactSource, files: FactSource, reasoning: FactSource },
})
export type FactSources = z.infer<typeof FactSources>

/** An endpoint of a model provider that lists its models, and the result of the last request to it. */
export const ModelEndpoint = z.object({
  provider: z.string(),
  /** `failed`: the last request failed; earlier results are still used. */
  state: z.enum(["unasked", "asking", "answered", "failed"]),
  /** How many of its models are listed. */
  models: z.number(),
  /** How many models are not listed: over the limit, or with unusable names. */
  leftOut: z.number(),
  /** When it last responded. */
  answeredAt: z.string().nullable(),
  problem: z.string().nullable(),
})
export type ModelEndpoint = z.infer<typeof ModelEndpoint>

/** A model server that was found on the machine of the Pawl server. Nothing is sent to it until it is connected. */
export const LocalModelServer = z.object({
  provider: z.enum(["ollama", "lmstudio"]),
  label: z.string(),
  baseUrl: z.string(),
  /** The setting that connects it for everyone. */
  variable: z.string(),
  /** The ids of its models. */
  models: z.array(z.string()),
})
export type LocalModelServer = z.infer<typeof LocalModelServer>

/** Converts a list of features to flags. */
export const toAbilities = (features: readonly string[]): ModelAbilities => ({
  tools: features.includes("tools"),
  images: features.includes("images"),
  files: features.includes("files"),
  reasoning: features.includes("reasoning"),
})
