import type { Message } from "../../../protocol/conversation/message.ts"
import type { Reasoning } from "../../../protocol/conversation/reasoning.ts"
import { wholeUnits } from "../../stream/frame-maker.ts"

/** Characters of a message that a list of messages shows; the message's own route gives all of them. */
const TOLD_CHARACTERS = 100_000

/** And of what was thought before it, which is folded away at first. */
const TOLD_REASONING = 20_000

/**
 * A message as lists tell it: of a long one its beginning, so that opening a conversation costs what a screen can show.
 * Results of tools are bounded where they are made.
 */
export function cutMessage(whole: Message): Message {
  const { role, content, reasoning } = whole
  const message = reasoning ? { ...whole, reasoning: cutReasoning(reasoning) } : whole
  if (role === "tool" || content.length <= TOLD_CHARACTERS) return message
  const beginning = content.slice(0, wholeUnits(content, TOLD_CHARACTERS))
  return { ...message, content: beginning, truncated: true, length: content.length }
}

function cutReasoning(reasoning: Reasoning): Reasoning {
  const { text } = reasoning
  if (text.length <= TOLD_REASONING) return reasoning
  return { ...reasoning, text: text.slice(0, wholeUnits(text, TOLD_REASONING)), truncated: true }
}
