import type { Usage } from "../protocol/conversation/message.ts"

export function addUsage(sum: Usage | undefined, { inputTokens, outputTokens, cost }: Usage): Usage {
  return {
    inputTokens: add(sum?.inputTokens, inputTokens),
    outputTokens: add(sum?.outputTokens, outputTokens),
    ...addCost(sum?.cost, cost),
  }
}

/** If the cost of one call is unknown, so is the sum: otherwise a part would be taken for the whole. */
function addCost(a: number | null | undefined, b: number | null | undefined): { cost?: number | null } {
  if (a === undefined && b === undefined) return {}
  if (a === null || b === null) return { cost: null }
  return { cost: Math.round(((a ?? 0) + (b ?? 0)) * 1_000_000) / 1_000_000 }
}

const add = (a: number | null | undefined, b: number | null): number | null => (b === null ? (a ?? null) : (a ?? 0) + b)
