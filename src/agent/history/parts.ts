import type { Part } from "../../protocol/conversation/message.ts"

/**
 * What providers take back of a reply: no blank text, and no thinking that led to nothing. Anthropic refuses a turn whose
 * last block is thinking, and OpenAI thinking without what it was about: from then on every request would be refused.
 */
export function takenBack(parts: readonly Part[]): readonly Part[] {
  const said = parts.some(isBlank) ? parts.filter((part) => !isBlank(part)) : parts
  const last = said.findLastIndex((part) => part.type !== "reasoning")
  return last === said.length - 1 ? said : said.slice(0, last + 1)
}

/** A reply without its calls and the thinking that led to them, which is worth nothing alone. */
export function withoutCalls(parts: readonly Part[]): Part[] {
  let led: Part["type"] | undefined
  const kept = parts.toReversed().filter((part) => {
    if (part.type !== "reasoning") led = part.type
    return led !== "call"
  })
  return kept.reverse()
}

const isBlank = (part: Part): boolean => part.type === "text" && /^[\s\p{Cc}]*$/u.test(part.text)

/** The words of a message, without its calls and its thinking. */
export function messageText(parts: readonly Part[]): string {
  if (parts.length === 1 && parts[0]?.type === "text") return parts[0].text
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}
