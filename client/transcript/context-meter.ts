import type { ContextMeter } from "../../core/protocol/conversation/conversation.ts"
import type { Usage } from "../../core/protocol/conversation/message.ts"
import { dollars } from "../format.ts"
import type { ShownMessage, Transcript } from "./transcript.ts"

/** The same estimate as on the server: four characters per token. */
const CHARACTERS_A_TOKEN = 4

/** Updates the meter after a message. The provider's count for a reply includes all messages before it. */
export function meterMessage(transcript: Transcript, { content, usage }: ShownMessage): Transcript {
  const { context } = transcript
  if (!context) return transcript
  const counted = typeof usage?.inputTokens === "number" ? usage.inputTokens + (usage.outputTokens ?? 0) : undefined
  const usedTokens = counted ?? context.usedTokens + Math.ceil(content.length / CHARACTERS_A_TOKEN)
  const estimated = counted === undefined && context.estimated
  return { ...transcript, context: { ...context, usedTokens, estimated, costUsd: sum(context.costUsd, usage) } }
}

/** Updates the meter after a model call outside the replies, or after the history was shortened. */
export function addToMeter(
  transcript: Transcript,
  { tokens = 0, asked }: { tokens?: number | undefined; asked?: { usage?: Usage | undefined } | undefined },
): Transcript {
  const { context } = transcript
  if (!context || (tokens === 0 && !asked)) return transcript
  const usedTokens = Math.max(0, context.usedTokens - tokens)
  return { ...transcript, context: { ...context, usedTokens, costUsd: sum(context.costUsd, asked?.usage) } }
}

const sum = (cost: number | null, usage: Usage | undefined): number | null =>
  typeof usage?.cost === "number" ? (cost ?? 0) + usage.cost : cost

/**
 * Formats how much of the context window is used, such as `32% of 8k` or `1.2k tokens`; undefined if nothing is used
 * yet.
 */
export function formatContextUse({ usedTokens: used, limitTokens: limit }: ContextMeter): string | undefined {
  if (used === 0) return undefined
  return limit === null ? `${inThousands(used)} tokens` : `${percentOf(used, limit)}% of ${inThousands(limit)}`
}

/** Describes in full sentences how much of the model's context window is used. */
export function describeContext(context: ContextMeter): string {
  const { usedTokens: used, limitTokens: limit, costUsd: cost, estimated } = context
  const room = limit === null ? "" : ` of ${inThousands(limit)} possible`
  const count = `The model receives ${estimated ? "about " : ""}${inThousands(used)}${room} tokens.`
  if (cost === null) return count
  return `${count} This conversation has cost ${cost === 0 ? "nothing" : dollars(cost)} so far.`
}

const percentOf = (used: number, limit: number): number => Math.min(100, Math.round((100 * used) / Math.max(1, limit)))

function inThousands(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  const thousands = tokens / 1000
  return thousands < 10 ? `${thousands.toFixed(1).replace(".0", "")}k` : `${Math.round(thousands)}k`
}
