import type { CallResult, HistoryMessage } from "../model.ts"
import { filesTokens } from "./file-tokens.ts"

/** What a message takes; the results in it are counted as they come. */
export function messageTokens(message: HistoryMessage): number {
  if (message.role === "user") return estimateTokens(message.text) + filesTokens(message.files?.items)
  if (message.role === "tool") return 0
  return message.parts.reduce((sum, part) => {
    return sum + estimateTokens(part.type === "call" ? part.name + JSON.stringify(part.input) : part.text)
  }, 0)
}

/** What a result takes, with its files. */
export const resultTokens = ({ text, files }: CallResult): number => estimateTokens(text) + filesTokens(files?.items)

/** About four bytes of UTF-8 a token, which holds for English, code and (three bytes a sign) Chinese alike. */
export const estimateTokens = (text: string): number => 4 + Math.ceil(Buffer.byteLength(text) / 4)

/** As much of a text as has so many tokens by this count. */
export function withinTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  // Whole characters only: what does not fit any more is not begun.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, Math.floor(tokens) - 4) * 4))
  return text.slice(0, read)
}
