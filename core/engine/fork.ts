import { failure } from "../protocol/errors.ts"
import type { JournalEvent, NewEvent } from "../protocol/events.ts"
import { type CallId, type ConversationId, newId, type UserId } from "../protocol/ids.ts"
import { settleOpenCalls } from "./accept/settle-calls.ts"
import { type Conversation } from "./conversation.ts"
import { emptyConversation } from "./empty-conversation.ts"
import { narrowest } from "./gate/policy.ts"
import type { Ports } from "./ports.ts"
import { isKnown, stage, stageCopy } from "./replay/replay.ts"

/**
 * Creates a conversation with everything that another one recorded up to a position. Open proposals are not copied,
 * because a proposal is decided in its own conversation.
 */
export async function fork(
  ports: Pick<Ports, "journal" | "clock" | "bus" | "room">,
  id: ConversationId,
  position: number,
  { mayApprove = true, to }: Forking = {},
): Promise<Conversation> {
  const { journal, clock, bus } = ports
  const { user, mode, position: end } = await journal.load(id, true)
  await ports.room.demandRoom(user)
  if (!Number.isInteger(position) || position < 1 || position > end) {
    throw failure("bad_request", { problem: `${id} has positions 1 to ${end}; ${position} is none of them.` })
  }
  const now = clock.now()
  const conversation = emptyConversation(to ?? newId("conv", user, now), user)
  const staged: JournalEvent[] = []
  const copying: Copying = { user, forkedFrom: { conversation: id, position }, calls: new Map() }
  const rows = await journal.read(id, { upTo: position })
  // Without its message, a run has nothing to answer.
  if (rows.at(-1)?.type === "run_started") rows.pop()
  for (const event of rows) {
    if (!isKnown(event)) throw failure("newer_journal", { id })
    staged.push(...toCopy(event, copying).map((copy) => stageCopy(conversation, copy, event.at)))
  }
  if (conversation.run?.status === "running") {
    const ended: NewEvent = { type: "run_ended", status: "cancelled", reason: "forked", heldUpTo: 0 }
    staged.push(...stage(conversation, [...settleOpenCalls(conversation, "cancelled", now), ended], now))
  }
  // `auto` approves writes, and the mode may have been wider in the past. Only a caller who may approve gets either.
  const narrow = mayApprove ? conversation.mode : narrowest(conversation.mode, mode, "confirm")
  if (narrow !== conversation.mode) staged.push(...stage(conversation, [{ type: "settings", mode: narrow }], now))
  await journal.create(conversation, staged, false)
  bus.publish(conversation.id, { type: "events", user: conversation.user, events: staged })
  return conversation
}

export interface Forking {
  /** True if the caller may approve writes. */
  readonly mayApprove?: boolean
  /** The id of the new conversation, if something is recorded under it already. */
  readonly to?: ConversationId
}

interface Copying {
  readonly user: UserId
  readonly forkedFrom: { readonly conversation: ConversationId; readonly position: number }
  /** The new ids of the calls by their previous ids. */
  readonly calls: Map<CallId, CallId>
}

/**
 * Runs, messages and calls get new ids: erasing the fork removes what is stored under the ids of its calls, and the
 * first conversation must still know which of its writes were applied.
 */
function toCopy(
  { version: _, position: __, at: ___, ...event }: JournalEvent,
  { user, forkedFrom, calls }: Copying,
): NewEvent[] {
  switch (event.type) {
    case "conversation_started":
      return [{ ...event, forkedFrom }]
    case "run_started": {
      const { undoes: _, again: __, ...run } = event // the write that it undid was not applied or proposed in this conversation
      return [{ ...run, runId: newId("run", user) }]
    }
    case "message": {
      const parts = event.parts.map((part) => {
        if (part.type !== "call") return part
        const id = newId("call", user)
        calls.set(part.id, id)
        return { ...part, id }
      })
      // A digest is of a request with other ids, so that it cannot be compared here.
      const { request: _, ...message } = event
      return [{ ...message, id: newId("msg", user), parts }]
    }
    case "tool_end": {
      const { callId, reusedFrom } = event
      const reused = reusedFrom ? { reusedFrom: calls.get(reusedFrom) ?? reusedFrom } : {}
      return [{ ...event, id: newId("msg", user), callId: calls.get(callId) ?? callId, ...reused }]
    }
    case "settings":
    case "step":
    case "fallback":
    case "history_cut":
      return [event]
    case "compaction":
      if (event.what === "due") return [] // it was requested there
      return [event.kept ? { ...event, kept: { ...event.kept, proposals: [] } } : event] // open calls are decided there
    case "run_ended":
      return [{ ...event, heldUpTo: 0 }] // the copy has no queue
    case "late_result": // the copy contains the result
    case "tool_start":
    case "handed_over":
      // A call that was started may have been applied, so the copy must not report the opposite.
      return [{ ...event, callId: calls.get(event.callId) ?? event.callId }]
    case "awaiting_confirmation":
    case "proposal":
    case "decision": // its grants are not copied
    case "grant_revoked":
    case "in_doubt":
    case "resolution":
    case "restarted":
      return []
  }
}
