import { z } from "zod"
import { PaidBy } from "../conversation/message.ts"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** What model calls have used. `cost` is in dollars and leaves out the calls whose price is not known. */
export const Used = lazily(() =>
  z.object({
    calls: z.number().int(),
    inputTokens: z.number().int(),
    outputTokens: z.number().int(),
    cachedTokens: z.number().int(),
    cost: z.number(),
    unpricedCalls: z.number().int(),
  }),
)
export type Used = z.infer<typeof Used>

export const UsageAnswer = lazily(() =>
  z.object({
    from: z.string(),
    to: z.string(),
    totals: Used,
    byModel: z.array(Used.extend({ model: z.string(), provider: z.string(), paidBy: PaidBy })),
    byDay: z.array(Used.extend({ day: z.string() })),
    /** The hundred dearest. */
    byConversation: z.array(Used.extend({ conversationId: ids.conversation })),
  }),
)
export type UsageAnswer = z.infer<typeof UsageAnswer>

/** Days as UTC counts them, both included; without them, the last thirty. */
export const UsageQuery = lazily(() => z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() }))
export type UsageQuery = z.infer<typeof UsageQuery>
