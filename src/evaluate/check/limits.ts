import { duration } from "../../client/index.ts"
import type { EvalLimits } from "../file/expectation.ts"
import type { EvalSpent, Unmet } from "../happened.ts"

type Told = (value: number) => string

/** Which bounds were passed. A cost that nobody knows passes its bound: it would otherwise never be noticed. */
export function checkLimits(limits: EvalLimits, spent: EvalSpent): Unmet[] {
  const { costUsd, ms, modelMs, inputTokens, outputTokens, modelCalls, toolCalls } = spent
  const seconds: Told = (value) => duration(value * 1000)
  const usd: Told = (value) => `$${Number(value.toPrecision(4))}`
  const plain: Told = (value) => value.toLocaleString("en")
  const taken: Readonly<Record<keyof EvalLimits, readonly [value: number | null, told: Told]>> = {
    costUsd: [costUsd, usd],
    seconds: [ms / 1000, seconds],
    secondsWithoutModel: [(ms - modelMs) / 1000, seconds],
    modelCalls: [modelCalls, plain],
    toolCalls: [toolCalls, plain],
    tokens: [inputTokens + outputTokens, plain],
    inputTokens: [inputTokens, plain],
    outputTokens: [outputTokens, plain],
  }
  return Object.entries(limits).flatMap(([name, most]) => {
    const [value, told] = taken[name as keyof EvalLimits]
    if (most === undefined || (value !== null && value <= most)) return []
    const problem =
      value === null
        ? "what it cost is not known, because a model on the way has no known price"
        : `it took ${told(value)}, and at most ${told(most)} is allowed`
    return [{ expectation: `limits.${name}`, problem }]
  })
}
