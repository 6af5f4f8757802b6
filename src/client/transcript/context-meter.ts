import type { ContextMeter } from "../../protocol/conversation/context-meter.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import { dollars } from "../words.ts"
import type { ShownMessage, Transcript } from "./transcript.ts"

/** About as the server estimates it: four letters a token. */
const CHARACTERS_A_TOKEN = 4

/** The meter after one more message: what a provider counts for a reply holds all that came before it. */
export function meterMessage(transcript: Transcript, { content, usage }: ShownMessage): Transcript {
  const { context } = transcript
  if (!context) return transcript
  const counted = typeof usage?.inputTokens === "number" ? usage.inputTokens + (usage.outputTokens ?? 0) : undefined
  const usedTokens = counted ?? context.usedTokens + Math.ceil(content.length / CHARACTERS_A_TOKEN)
  const estimated = counted === undefined && context.estimated
  return { ...transcript, context: { ...context, usedTokens, estimated, costUsd: sum(context.costUsd, usage) } }
}

/** The same where something was asked beside the replies, or has left the history. */
export function meterBeside(
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

/** `32% of 8k`, `1.2k tokens`: how much the model is shown; undefined where that is nothing yet. */
export function fullnessWords({ usedTokens: used, limitTokens: limit }: ContextMeter): string | undefined {
  if (used === 0) return undefined
  return limit === null ? `${inThousands(used)} tokens` : `${percentOf(used, limit)}% of ${inThousands(limit)}`
}

/** A whole sentence for whoever wants to know more. */
export function meterWords(context: ContextMeter): string {
  const { usedTokens: used, limitTokens: limit, costUsd: cost, estimated } = context
  const room = limit === null ? "" : ` of ${inThousands(limit)} that it can read`
  const count = `The model is shown ${estimated ? "about " : ""}${inThousands(used)} tokens${room}.`
  if (cost === null) return count
  return `${count} This conversation has cost ${cost === 0 ? "nothing" : dollars(cost)} so far.`
}

const percentOf = (used: number, limit: number): number => Math.min(100, Math.round((100 * used) / Math.max(1, limit)))

function inThousands(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  const thousands = tokens / 1000
  return thousands < 10 ? `${thousands.toFixed(1).replace(".0", "")}k` : `${Math.round(thousands)}k`
}
