import { z } from "zod"
import { lazily } from "../lazily.ts"

/** How full a conversation is for its model, and what it has cost so far. */
export const ContextMeter = lazily(() =>
  z.object({
    /** Tokens that the model is shown with the next words: what its provider counted last, and an estimate of what came since. */
    usedTokens: z.number().int(),
    /** Nobody has counted yet: all of it is an estimate, without instructions and tools. */
    estimated: z.boolean(),
    /** Tokens that the model can read; null where it is not known. */
    limitTokens: z.number().int().nullable(),
    /** Dollars for everything in it, summaries too; null where no price is known. */
    costUsd: z.number().nullable(),
  }),
)
export type ContextMeter = z.infer<typeof ContextMeter>
