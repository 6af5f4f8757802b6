import type { NewEvent, JournalEvent } from "../protocol/events.ts"
import type { RunError } from "../protocol/conversation/conversation.ts"
import type { Refuses } from "./history/history.ts"
import type { RunId } from "../protocol/ids.ts"
import type { Pause } from "../shared/concurrency/time-limit.ts"
import type { Agent } from "./definition/agent.ts"
import type { Conversation } from "./conversation.ts"
import type { InboxItem } from "./input.ts"
import { nextStep, rests } from "./next-step.ts"
import type { Ports } from "./ports.ts"
import { stage } from "./replay/replay.ts"

/** One conversation at work: what every kind of step is given. */
export interface Work {
  readonly conversation: Conversation
  readonly agent: Agent
  readonly ports: Ports
  /** Aborts with a `Stop` as its reason. */
  readonly signal: AbortSignal
  /** Stops the time of the run while a call waits for others. */
  readonly pause?: Pause
}

/** Hands out the signal that stops the work on a run; a run that starts after a cancelled one gets a fresh one. */
export interface RunSignals extends Pick<Work, "pause"> {
  signalFor(run: RunId | undefined, workedMs: number): AbortSignal
}

/** Why work is broken off. */
export type Stop = "cancel" | "run_timeout" | "shutdown"

/** Makes events durable and visible. When it returns they survive anything; when it throws, nothing may be assumed. */
export function record(
  work: Pick<Work, "conversation" | "agent" | "ports">,
  events: readonly NewEvent[],
): Promise<void> {
  return commitStaged(work, stage(work.conversation, events, work.ports.clock.now()))
}

/**
 * The same for events that are staged already, with the inbox items they came from. Where it takes some and others have
 * arrived nothing is recorded, and the fold is an old one: then only the loop may go on, which loads it anew.
 */
export async function commitStaged(
  { conversation, agent, ports }: Pick<Work, "conversation" | "agent" | "ports">,
  events: readonly JournalEvent[],
  taken: readonly InboxItem[] = [],
): Promise<void> {
  // The commit that leaves nothing to do also lets go of the lease: no second write, and no moment in between.
  const release = rests(nextStep(conversation, agent, ports.limits))
  if (!(await ports.journal.append(conversation, events, { taken, release }))) return
  ports.bus.publish(conversation.id, { type: "events", user: conversation.user, events })
}

/** How a run ends that failed: what was queued behind it waits until somebody speaks. */
export function failedEnd({ arrivals }: Conversation, { code, message }: RunError, refuses?: Refuses): NewEvent {
  const what = refuses === undefined ? {} : { refuses }
  return { type: "run_ended", status: "failed", error: { code, message }, ...what, heldUpTo: arrivals }
}
