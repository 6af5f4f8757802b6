import type { AgUiMessage } from "../../protocol/dialects/ag-ui.ts"
import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { thoughtsFirst } from "../thoughts-first.ts"
import { AgUiEvents } from "./events.ts"

/** A run that is over as the messages that a frontend shows of it: those that its events would have made. */
export function toldMessages(conversation: ConversationId, frames: readonly UnknownFrame[]): readonly AgUiMessage[] {
  const [first] = frames as readonly Frame[]
  if (first?.type === "run_started" && first.data.compacts) return []
  const events = new AgUiEvents({
    ...{ threadId: "", runId: "", conversation, state: undefined, isReset: false, messages: [], open: [], late: [] },
  })
  for (const frame of thoughtsFirst(frames)) events.translate(frame)
  return events.messages
}
