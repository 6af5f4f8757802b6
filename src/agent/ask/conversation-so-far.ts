import { messageText } from "../history/parts.ts"
import type { HistoryMessage } from "../model.ts"

const TURNS = 8
const CHARACTERS = 800

/** What was said, without what tools have answered, for a judge who has to know what a short question is about. */
export function conversationSoFar(history: readonly HistoryMessage[]): string {
  const lines = history.flatMap(toLine)
  return lines.length === 0 ? "" : `The conversation so far:\n${lines.slice(-TURNS).join("\n")}\n\n`
}

function toLine(turn: HistoryMessage): string[] {
  if (turn.role === "tool" || (turn.role === "user" && turn.isNote)) return []
  const text = (turn.role === "user" ? turn.text : messageText(turn.parts)).trim().slice(0, CHARACTERS)
  return text ? [`${turn.role === "user" ? "Person" : "Assistant"}: ${text}`] : []
}
