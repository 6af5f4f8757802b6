import { failure } from "../protocol/errors.ts"
import type { NewEvent } from "../protocol/events.ts"
import type { RunError } from "../protocol/run.ts"
import { settleOpenCalls } from "./accept.ts"
import { brokenOff } from "./broken-off.ts"
import type { Conversation } from "./conversation.ts"
import type { NextStep } from "./next-step.ts"
import { record, type Work } from "./record.ts"

/** Ends a run that may not go on: every open call gets its result, and the reason is recorded. */
export function giveUp(work: Work, { because }: Extract<NextStep, { type: "give-up" }>): Promise<void> {
  const { conversation, ports } = work
  const { limits } = ports
  const error =
    because === "set_aside"
      ? failure("set_aside", { times: limits.restarts })
      : failure("run_timeout", { seconds: limits.runSeconds })
  return record(work, [
    ...settleOpenCalls(conversation, "timed_out", ports.clock.now()),
    ...brokenOff(work, "broken"),
    failedEnd(conversation, error),
  ])
}

/** How a run ends that failed: what was queued behind it waits until somebody speaks. */
export function failedEnd({ lease }: Conversation, { code, message }: RunError): NewEvent {
  return { type: "run_ended", status: "failed", error: { code, message }, heldUpTo: lease.arrivals }
}
