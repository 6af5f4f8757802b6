import { z } from "zod"
import { endpointFields, EndpointView } from "./own-endpoint.ts"
import { lazily } from "../lazily.ts"

/** A provider of models, as one person sees it. Keys are told by `configured` and never otherwise. */
export const ProviderView = lazily(() =>
  z.object({
    name: z.string(),
    configured: z.boolean(),
    /** Whose means are used: the person's own, the operator's, or nobody's. */
    source: z.enum(["own", "shared"]).nullable(),
    /** The address the person has given; the operator's is their own business. */
    baseUrl: z.string().optional(),
    /** What else it takes, each with what the person has given, unless that is secret. */
    fields: z
      .array(z.object({ name: z.string(), says: z.string(), isSecret: z.boolean(), value: z.string().optional() }))
      .optional(),
    /** What is missing to use it. */
    need: z.string().nullable(),
    /** An endpoint that the operator has named: nobody brings a key of their own for it. */
    operatorOnly: z.literal(true).optional(),
    /** Something the person has named, and that cannot be opened any more. */
    lost: z.literal(true).optional(),
    /** An endpoint that the person has named. */
    endpoint: EndpointView.optional(),
  }),
)
export type ProviderView = z.infer<typeof ProviderView>

/** What goes into a header: anything else would be refused by the client that sends it, in words that may quote it. */
const Key = lazily(() =>
  z
    .string()
    .trim()
    .max(4000)
    .regex(/^[\x21-\x7e]+$/, { message: "must be plain characters without spaces" }),
)

const BaseUrl = lazily(() =>
  z.string().trim().max(2000).refine(isPlainAddress, {
    message: "must be an address such as https://models.example/v1, without password and ?",
  }),
)

/** Of these only a key in PEM has several lines. */
const Field = lazily(() =>
  z
    .string()
    .trim()
    .max(8000)
    .regex(/^[\x20-\x7e]+$|^-----BEGIN [\x20-\x7e\r\n]+$/, { message: "must be plain characters on one line" }),
)

const MAX_FIELDS = 20

const Fields = lazily(() =>
  z
    .record(z.string().max(40), Field)
    .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, { message: `must be at most ${MAX_FIELDS}` }),
)

/** What a person brings for a provider. It takes the place of all they had stored: an address never meets an old key. */
export const NewAccess = lazily(() =>
  z.strictObject({
    apiKey: Key.nullish(),
    baseUrl: BaseUrl.nullish(),
    /** What else the provider takes, by the names that `fields` of its answer has. */
    fields: Fields.nullish(),
    /** Makes an endpoint of the person's own, under a name that is no provider's. What follows goes with it. */
    kind: endpointFields.kind.optional(),
    headers: endpointFields.headers.optional(),
    models: endpointFields.models.optional(),
    quirks: endpointFields.quirks.optional(),
  }),
)
export type NewAccess = z.infer<typeof NewAccess>

/** What is new of an endpoint of the person's own; the rest stays. At another address it has neither key nor headers of before. */
export const ChangedEndpoint = lazily(() =>
  z
    .strictObject({
      apiKey: Key.nullable(),
      baseUrl: BaseUrl,
      ...endpointFields,
    })
    .partial(),
)
export type ChangedEndpoint = z.infer<typeof ChangedEndpoint>

/** The address is shown again, so nothing secret may hide in it. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) return false
  return url.username === "" && url.password === "" && !/[?#]/.test(text)
}
