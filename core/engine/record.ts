import type { NewEvent, JournalEvent } from "../protocol/events.ts"
import type { RunError } from "../protocol/conversation/conversation.ts"
import type { Refuses } from "./history/history.ts"
import type { RunId } from "../protocol/ids.ts"
import type { Pause } from "../shared/concurrency/time-limit.ts"
import type { Agent } from "./definition/agent.ts"
import type { Conversation } from "./conversation.ts"
import type { InboxItem } from "./input.ts"
import { nextStep, isIdle } from "./next-step.ts"
import type { Ports } from "./ports.ts"
import { stage } from "./replay/replay.ts"

/** A conversation at work: what each kind of step gets. */
export interface Work {
  readonly conversation: Conversation
  readonly agent: Agent
  readonly ports: Ports
  /** Aborts with a `Stop` as its reason. */
  readonly signal: AbortSignal
  /** Pauses the run's time limit while a call waits for another party. */
  readonly pause?: Pause
}

/** Provides the signal that stops a run. A run that starts after a cancelled one gets a new signal. */
export interface RunSignals extends Pick<Work, "pause"> {
  signalFor(run: RunId | undefined, workedMs: number): AbortSignal
}

/** Why the work on a run stops. */
export type Stop = "cancel" | "run_timeout" | "shutdown"

/** Makes events durable and visible. After it returns they survive a crash; after it throws, assume nothing. */
export function record(
  work: Pick<Work, "conversation" | "agent" | "ports">,
  events: readonly NewEvent[],
): Promise<void> {
  return commitStaged(work, stage(work.conversation, events, work.ports.clock.now()))
}

/**
 * The same for staged events, with the inbox items they came from. If other input has arrived, nothing is recorded and
 * the state is outdated: only the loop may continue then, which loads it again.
 */
export async function commitStaged(
  { conversation, agent, ports }: Pick<Work, "conversation" | "agent" | "ports">,
  events: readonly JournalEvent[],
  taken: readonly InboxItem[] = [],
): Promise<void> {
  // The commit after which no work is left also releases the lease, without a second write and a moment in between.
  const release = isIdle(nextStep(conversation, agent, ports.limits))
  if (!(await ports.journal.append(conversation, events, { taken, release }))) return
  ports.bus.publish(conversation.id, { type: "events", user: conversation.user, events })
}

/** The end of a failed run. Messages queued behind it wait for the user's next message. */
export function failedEnd({ arrivals }: Conversation, { code, message }: RunError, refuses?: Refuses): NewEvent {
  const what = refuses === undefined ? {} : { refuses }
  return { type: "run_ended", status: "failed", error: { code, message }, ...what, heldUpTo: arrivals }
}
