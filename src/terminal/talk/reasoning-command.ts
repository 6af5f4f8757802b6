import { lastReasoning } from "../../client/transcript/thought-words.ts"
import { reasoningLines } from "../drawing/thought-lines.ts"
import { line } from "../line.ts"
import type { Talk } from "./talk.ts"

const NONE = "! Nothing that is shown here was thought aloud. Some providers do not tell, or only where effort is set."

/** Unfolds what was thought last, also while it still is. */
export async function reasoningCommand({ talk }: { readonly talk: Talk }): Promise<void> {
  const { conversation } = talk
  const found = conversation && lastReasoning(conversation.transcript)
  if (!conversation || !found) return talk.print(line(NONE))
  const { message, ms } = found
  const whole = message?.reasoning?.truncated
    ? await talk.client.readMessage({ params: { id: conversation.id, messageId: message.id } })
    : undefined
  talk.print(...reasoningLines(whole?.reasoning?.text ?? found.text, ms))
}
