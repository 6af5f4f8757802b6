import type { NewEvent } from "../../protocol/events.ts"
import type { Conversation } from "../conversation.ts"
import type { Input } from "../input.ts"

/** What was set becomes one event. A title is judged here, where everything is in order: a model's gives way to a person's. */
export function acceptSettings({ titled }: Conversation, input: Extract<Input, { type: "settings" }>): NewEvent[] {
  const { type, fallback, title, ...others } = input
  const isLate = input.titledBy !== undefined && titled !== undefined
  const named = title === undefined || isLate ? {} : { title }
  const list = fallback === undefined ? {} : { fallback: fallback && [...fallback] }
  return [{ type, ...others, ...named, ...list }]
}
