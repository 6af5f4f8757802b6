import type { EventOf } from "../../protocol/events.ts"
import type { Conversation } from "../conversation.ts"
import type { Tool } from "../definition/tool.ts"

/**
 * Outside and private kept apart (GATE-08). Words of others can hold orders to a model, and the person's data is
 * what such orders are after: a conversation that has seen both sends nothing out unseen. It stays one for good, because
 * what a model has read it cannot forget.
 */
export function hasSeenOutsideAndPrivate({ hasSeen }: Pick<Conversation, "hasSeen">): boolean {
  return hasSeen.brought === true || (hasSeen.outside && hasSeen.private)
}

/** Whether a call is shown to a person or decided by policy before it runs. */
export function isGated(conversation: Pick<Conversation, "hasSeen">, tool: Tool | undefined): boolean {
  return tool?.effect === "write" || (tool?.reaches === "outside" && hasSeenOutsideAndPrivate(conversation))
}

/** Folds in what a client has sent along: documents of others, or the person's own things, and nobody can tell which. */
export function noteBroughtSeen(conversation: Conversation): void {
  conversation.hasSeen.brought = true
  conversation.grants = new Map()
}

/** Folds in what a result has brought. */
export function noteResultSeen(conversation: Conversation, { brings }: Pick<EventOf<"tool_end">, "brings">): void {
  if (brings === undefined) return
  const { hasSeen } = conversation
  if (brings !== "private") hasSeen.outside = true
  if (brings !== "outside") hasSeen.private = true
  if (hasSeenOutsideAndPrivate(conversation)) conversation.grants = new Map() // from here on every call is decided by itself
}
