import type { NewEvent } from "../protocol/events.ts"
import { newId } from "../protocol/ids.ts"
import { type Conversation, isOurs } from "./conversation.ts"
import type { Input } from "./input.ts"

interface Moment {
  readonly now: number
  /** The server's own, for a person who has never told theirs. */
  readonly timeZone: string
}

/**
 * Where something is at work it sums up before its next reply. One that waits for a person goes on waiting: what it has
 * proposed stays open. Where nothing is, it is a run of its own: cancelled, resumed, paid and taken over like any other.
 */
export function acceptCompact(
  conversation: Conversation,
  { by, credential }: Extract<Input, { type: "compact" }>,
  { now, timeZone }: Moment,
): NewEvent[] {
  const { run, compaction, user } = conversation
  if (run?.status === "running")
    return isOurs(run) || compaction.due ? [] : [{ type: "compaction", what: "due", because: "asked", by }]
  const who = { ...(credential ? { credential } : {}), timeZone: conversation.timeZone ?? timeZone }
  return [{ type: "run_started", runId: newId("run", user, now), maxIterations: 1, compacts: true, ...who }]
}
