import { failure } from "../protocol/errors.ts"
import { settleOpenCalls } from "./accept.ts"
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
    ...settleOpenCalls(conversation, "cancelled", ports.clock.now()),
    { type: "run_ended", status: "failed", error: { code: error.code, message: error.message } },
  ])
}
