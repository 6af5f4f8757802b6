import { z } from "zod"
import { lazily } from "../lazily.ts"

/** What a model can do beyond answering in words. */
export const modelFeatures = ["tools", "images", "files", "reasoning"] as const
export type Feature = (typeof modelFeatures)[number]

/**
 * Who says it: the endpoint that serves the model, the catalogue that ships with Pawl, whoever runs the server (or named the
 * endpoint for themselves), or nobody:
 * then it is what is usual there.
 */
export const FactSource = lazily(() => z.enum(["endpoint", "catalogue", "operator", "assumed"]))
export type FactSource = z.infer<typeof FactSource>

export const ModelAbilities = lazily(() =>
  z.object({
    tools: z.boolean(),
    images: z.boolean(),
    files: z.boolean(),
    reasoning: z.boolean(),
  }),
)
export type ModelAbilities = z.infer<typeof ModelAbilities>

/** Dollars per million tokens. */
export const ModelPrice = lazily(() =>
  z.object({
    input: z.number(),
    output: z.number(),
    cached: z.number().optional(),
    cacheWrite: z.number().optional(),
  }),
)

/** Where each fact of a model is from; a price that is not known is from nobody. */
export const FactSources = lazily(() =>
  z.object({
    contextTokens: FactSource,
    price: FactSource.optional(),
    ...{ tools: FactSource, images: FactSource, files: FactSource, reasoning: FactSource },
  }),
)
export type FactSources = z.infer<typeof FactSources>

/** An endpoint that lists its models, and how it went when it was asked. */
export const ModelEndpoint = lazily(() =>
  z.object({
    provider: z.string(),
    /** `failed`: it did not answer the last time; what it said before still stands. */
    state: z.enum(["unasked", "asking", "answered", "failed"]),
    /** How many models it told of that are listed. */
    models: z.number(),
    /** How many more it told of: beyond what is kept, or under names that cannot be used. */
    leftOut: z.number(),
    /** When it last answered. */
    answeredAt: z.string().nullable(),
    problem: z.string().nullable(),
  }),
)
export type ModelEndpoint = z.infer<typeof ModelEndpoint>

/** What a list of features says of each. */
export const toAbilities = (features: readonly string[]): ModelAbilities => ({
  tools: features.includes("tools"),
  images: features.includes("images"),
  files: features.includes("files"),
  reasoning: features.includes("reasoning"),
})
