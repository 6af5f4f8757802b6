import { z } from "zod"
import { PaidBy } from "../conversation/message.ts"
import { ids } from "../schema.ts"

/** The usage of model calls. `cost` is in US dollars and excludes calls whose price is unknown. */
export const Used = z.object({
  calls: z.number().int(),
  inputTokens: z.number().int(),
  outputTokens: z.number().int(),
  cachedTokens: z.number().int(),
  cost: z.number(),
  unpricedCalls: z.number().int(),
})
export type Used = z.infer<typeof Used>

/** A user's model usage in a range of days: in total, by model, by day, and by conversation. */
export const UsageAnswer = z.object({
  from: z.string(),
  to: z.string(),
  totals: Used,
  byModel: z.array(Used.extend({ model: z.string(), provider: z.string(), paidBy: PaidBy })),
  byDay: z.array(Used.extend({ day: z.string() })),
  /** The hundred most expensive. */
  byConversation: z.array(Used.extend({ conversationId: ids.conversation })),
})
export type UsageAnswer = z.infer<typeof UsageAnswer>

/** Days in UTC, inclusive. Default: the last 30 days. */
export const UsageQuery = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() })
export type UsageQuery = z.infer<typeof UsageQuery>
