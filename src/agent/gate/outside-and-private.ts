import type { EventOf } from "../../protocol/events.ts"
import type { Conversation } from "../conversation.ts"
import type { Tool } from "../tool.ts"

/**
 * The wall between outside and private (GATE-08). Words of others can hold orders to a model, and the person's data is
 * what such orders are after: a conversation that holds both sends nothing out unseen. It stays one for good, because
 * what a model has read it cannot forget.
 */
export function holdsOutsideAndPrivate({ holds }: Pick<Conversation, "holds">): boolean {
  return holds.brought === true || (holds.outside && holds.private)
}

/** Whether a call is shown to a person or decided by policy before it runs. */
export function isGated(conversation: Pick<Conversation, "holds">, tool: Tool | undefined): boolean {
  return tool?.effect === "write" || (tool?.reaches === "outside" && holdsOutsideAndPrivate(conversation))
}

/** Folds in what a client has sent along: documents of others, or the person's own things, and nobody can tell which. */
export function holdBrought({ holds, grants }: Conversation): void {
  holds.brought = true
  grants.clear()
}

/** Folds in what a result has brought. */
export function hold(conversation: Conversation, { brings }: Pick<EventOf<"tool_end">, "brings">): void {
  if (brings === undefined) return
  const { holds, grants } = conversation
  if (brings !== "private") holds.outside = true
  if (brings !== "outside") holds.private = true
  if (holdsOutsideAndPrivate(conversation)) grants.clear() // from here on every call is decided by itself
}
