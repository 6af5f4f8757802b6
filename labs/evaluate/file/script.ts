import { z } from "zod"
import { JsonObject } from "../../../core/protocol/schema.ts"

/** The replies in place of a model's, so that a case runs without a provider: one entry for each request. */

const Call = z.strictObject({ tool: z.string().min(1), arguments: JsonObject.default({}) })
const ByTool = z
  .record(z.string(), JsonObject.nullable())
  .transform((calls) => Object.entries(calls).map(([tool, given]) => ({ tool, arguments: given ?? {} })))
const Tokens = z.number().int().min(0)

const ReplyOf = z
  .strictObject({
    says: z.string().optional(),
    /** Tools with their arguments, all in one reply; a list if a tool is called several times. */
    calls: z
      .union([z.array(Call).min(1), ByTool], { error: "must be tools with arguments, or a list of these" })
      .optional(),
    usage: z.strictObject({ input: Tokens, output: Tokens }).optional(),
  })
  .refine(({ says, calls }) => says !== undefined || calls !== undefined, { message: "needs says, or calls" })
export type ScriptedWords = z.infer<typeof ReplyOf>

const Reply = z.union(
  [
    z
      .string()
      .min(1)
      .transform((says): ScriptedWords => ({ says })),
    ReplyOf,
  ],
  {
    error: "must be a text, or an object of says, calls and usage",
  },
)
const Replies = z.array(Reply).min(1)

const Whole = z.strictObject({
  /** Dollars per million tokens, for limits on cost. */
  price: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).optional(),
  replies: Replies,
})
export type EvalScript = z.infer<typeof Whole>

export const EvalScript = z.union([Replies.transform((replies): EvalScript => ({ replies })), Whole], {
  error: "must be a list of replies, or an object of price and replies",
})
