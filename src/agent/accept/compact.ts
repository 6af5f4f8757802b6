import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import { type Conversation, isOurs } from "../conversation.ts"
import type { Input } from "../input.ts"

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
  if (run?.status === "running") return isOurs(run) || compaction.due ? [] : [asked(by)]
  const who = { ...(credential ? { credential } : {}), timeZone: conversation.timeZone ?? timeZone }
  return startCompacting({ runId: newId("run", user, now), maxIterations: 1, ...who }, by)
}

type RunStart = Omit<Extract<NewEvent, { type: "run_started" }>, "type" | "compacts">

/**
 * A run that only sums up. An older version knows `run_started` without `compacts`, and would ask its model to go on: the
 * event in the same commit that it does not know keeps it from taking the run up.
 */
export const startCompacting = (start: RunStart, by: string): NewEvent[] => [
  asked(by),
  { type: "run_started", ...start, compacts: true },
]

const asked = (by: string): NewEvent => ({ type: "compaction", what: "due", because: "asked", by })
