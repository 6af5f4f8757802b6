import { z } from "zod"
import { lazily } from "../../protocol/lazily.ts"
import { JsonObject } from "../../protocol/schema.ts"

/** What an evaluation has found, as it is printed with `--json`, saved, and compared with later. */

const SpentOfRun = lazily(() =>
  z.object({
    costUsd: z.number().nullable(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    modelCalls: z.number(),
    toolCalls: z.number(),
    ms: z.number(),
    modelMs: z.number(),
  }),
)
const Call = lazily(() =>
  z.object({ tool: z.string(), arguments: JsonObject, status: z.string(), result: z.string().optional() }),
)

const EvalRun = lazily(() =>
  z.object({
    passed: z.boolean(),
    /** Why it could not be run to its end. */
    error: z.string().optional(),
    unmet: z.array(z.object({ expectation: z.string(), problem: z.string() })),
    answers: z.array(
      z.object({
        text: z.string(),
        status: z.string(),
        error: z.string().optional(),
        calls: z.array(Call),
        proposals: z.array(Call),
      }),
    ),
    spent: SpentOfRun,
    judged: z.array(
      z.object({ rubric: z.string(), model: z.string(), pass: z.boolean(), reason: z.string(), spent: SpentOfRun }),
    ),
  }),
)
export type EvalRun = z.infer<typeof EvalRun>

/** One line of the table. What is spent is what one run takes: costs and tokens on average, times in the middle. */
const EvalResult = lazily(() =>
  z.object({
    case: z.string(),
    agent: z.string(),
    model: z.string(),
    passed: z.boolean(),
    passedRuns: z.number().int(),
    costUsd: z.number().nullable(),
    judgeCostUsd: z.number().nullable(),
    tokens: z.number(),
    p50Ms: z.number(),
    p50MsWithoutModel: z.number(),
    runs: z.array(EvalRun),
  }),
)
export type EvalResult = z.infer<typeof EvalResult>

export const EvalReport = lazily(() =>
  z.object({
    version: z.literal(1),
    file: z.string(),
    startedAt: z.string(),
    ms: z.number(),
    /** Why these are only the results so far; null where all was run. */
    stopped: z.string().nullable(),
    passed: z.number().int(),
    failed: z.number().int(),
    costUsd: z.number().nullable(),
    judgeCostUsd: z.number().nullable(),
    results: z.array(EvalResult),
  }),
)
export type EvalReport = z.infer<typeof EvalReport>
