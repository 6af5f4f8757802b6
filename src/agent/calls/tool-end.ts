import { newId } from "../../protocol/ids.ts"
import type { CallStatus } from "../../protocol/conversation/call-status.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { mendText } from "../../protocol/text/text.ts"
import type { Call, Conversation } from "../conversation.ts"

interface Ending {
  readonly status: CallStatus
  readonly text: string
  readonly now: number
}

/** The event that ends a call, with what the model is told of it. */
export function toolEnd(
  { user }: Pick<Conversation, "user">,
  call: Call,
  { status, text, now }: Ending,
): Extract<NewEvent, { type: "tool_end" }> {
  const ms = call.state === "started" ? Math.max(0, now - call.startedAt) : 0
  const id = newId("msg", user, now)
  return { type: "tool_end", callId: call.id, id, seq: call.seq, status, text: mendText(text), ms }
}
