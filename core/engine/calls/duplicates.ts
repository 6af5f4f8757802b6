import type { EventOf, NewEvent } from "../../protocol/events.ts"
import { firstOfEach } from "../../protocol/calls/follow-calls.ts"
import { newId } from "../../protocol/ids.ts"
import type { Call, Conversation } from "../conversation.ts"

/** How much of the first call's result a duplicate repeats. The whole result is in the same turn. */
const REPEATED = 500

/**
 * Marks identical calls of one reply, with the same tool and arguments. Only the first is executed, and the others get
 * its result. A model that repeats itself makes one proposal, not two hundred.
 */
export function markDuplicates(calls: readonly Call[]): void {
  const firstOf = firstOfEach(calls)
  for (const call of calls) {
    const duplicateOf = firstOf.get(call.id)
    if (duplicateOf) Object.assign(call, { state: "duplicate", duplicateOf } satisfies Partial<Call>)
  }
}

export function duplicatesOf({ calls }: Conversation, { id }: Pick<Call, "id">): Call[] {
  return calls.filter((call) => call.state === "duplicate" && call.duplicateOf === id)
}

/** The results of the duplicates of this call, recorded in the same commit so that a crash cannot separate them. */
export function duplicateEnds(conversation: Conversation, event: NewEvent, now: number): NewEvent[] {
  if (event.type !== "tool_end") return []
  return duplicatesOf(conversation, { id: event.callId }).map((call) => toEnd(conversation, call, { end: event, now }))
}

type End = Omit<EventOf<"tool_end">, "version" | "position" | "at">

function toEnd({ user }: Conversation, { id, seq }: Call, { end, now }: { end: End; now: number }): NewEvent {
  const { callId, status, text, brings } = end
  const repeated = text.length > REPEATED ? `${text.slice(0, REPEATED).toWellFormed()} …` : text
  return {
    type: "tool_end",
    callId: id,
    id: newId("msg", user, now),
    seq,
    status,
    text: `[The same call as one before it in this reply; they count as one. Call again later if it is wanted again.] ${repeated}`,
    ms: 0,
    reusedFrom: callId,
    ...(brings ? { brings } : {}),
  }
}
