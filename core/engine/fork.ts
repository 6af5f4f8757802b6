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
 * A new conversation that begins with everything another one held up to a position. What was said and found out comes
 * along; what was open does not: a proposal belongs to the conversation it was made in, and is decided there.
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
  // A run whose words are left behind has nothing to say: resumed, it would ask the model about nothing.
  if (rows.at(-1)?.type === "run_started") rows.pop()
  for (const event of rows) {
    if (!isKnown(event)) throw failure("newer_journal", { id })
    staged.push(...toCopy(event, copying).map((copy) => stageCopy(conversation, copy, event.at)))
  }
  if (conversation.run?.status === "running") {
    const ended: NewEvent = { type: "run_ended", status: "cancelled", reason: "forked", heldUpTo: 0 }
    staged.push(...stage(conversation, [...settleOpenCalls(conversation, "cancelled", now), ended], now))
  }
  // `auto` approves writes, and the past may have been wider than the present: only a caller who may approve gets either.
  const narrow = mayApprove ? conversation.mode : narrowest(conversation.mode, mode, "confirm")
  if (narrow !== conversation.mode) staged.push(...stage(conversation, [{ type: "settings", mode: narrow }], now))
  await journal.create(conversation, staged, false)
  bus.publish(conversation.id, { type: "events", user: conversation.user, events: staged })
  return conversation
}

export interface Forking {
  /** Whether whoever forks may approve writes. */
  readonly mayApprove?: boolean
  /** The id of the new conversation, where something has been noted under it already. */
  readonly to?: ConversationId
}

interface Copying {
  readonly user: UserId
  readonly forkedFrom: { readonly conversation: ConversationId; readonly position: number }
  /** The calls so far, by the ids they had. */
  readonly calls: Map<CallId, CallId>
}

/**
 * Ids are new, because runs, messages and calls have theirs for ever: a fork that is erased takes along what is kept under
 * the ids of its calls, and the first conversation still has to know which of its writes were applied.
 */
function toCopy(
  { version: _, position: __, at: ___, ...event }: JournalEvent,
  { user, forkedFrom, calls }: Copying,
): NewEvent[] {
  switch (event.type) {
    case "conversation_started":
      return [{ ...event, forkedFrom }]
    case "run_started": {
      const { undoes: _, again: __, ...run } = event // what it took back was not applied from here, nor proposed
      return [{ ...run, runId: newId("run", user) }]
    }
    case "message": {
      const parts = event.parts.map((part) => {
        if (part.type !== "call") return part
        const id = newId("call", user)
        calls.set(part.id, id)
        return { ...part, id }
      })
      // The digests are of a request that held other ids: by them nothing here could be compared.
      const { request: _, ...said } = event
      return [{ ...said, id: newId("msg", user), parts }]
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
      if (event.what === "due") return [] // what was asked for over there is done over there
      return [event.kept ? { ...event, kept: { ...event.kept, proposals: [] } } : event] // and what is open is decided there
    case "run_ended":
      return [{ ...event, heldUpTo: 0 }] // nothing is queued here
    case "late_result": // what it has brought into the conversation is known to the copy too
    case "tool_start":
    case "handed_over":
      // What was begun may have been done: the copy must not say that it was not.
      return [{ ...event, callId: calls.get(event.callId) ?? event.callId }]
    case "awaiting_confirmation":
    case "proposal":
    case "decision": // and with it a grant: what somebody agreed to beforehand, they agreed to over there
    case "grant_revoked":
    case "in_doubt":
    case "resolution":
    case "restarted":
      return []
  }
}
