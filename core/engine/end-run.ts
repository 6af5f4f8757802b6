import { failure } from "../protocol/errors.ts"
import { settleOpenCalls } from "./accept/settle-calls.ts"
import { interruptedReply } from "./ask/reply.ts"
import { type EndOfCall, whatBecameOf } from "./gate/run-write.ts"
import { type NextStep, runTimeout } from "./next-step.ts"
import { failedEnd, record, type Work } from "./record.ts"

/** Ends a run that must not continue: every open call gets a result, and the reason is recorded. */
export async function giveUp(work: Work, { reason }: Extract<NextStep, { type: "give-up" }>): Promise<void> {
  const { conversation, ports } = work
  const { limits } = ports
  const error = reason === "set_aside" ? failure("set_aside", { times: limits.restarts }) : runTimeout(limits)
  const known = reason === "set_aside" ? await askTargets(work) : []
  const settled = new Set(known.map(({ callId }) => callId))
  const others = settleOpenCalls(conversation, "timed_out", ports.clock.now())
  await record(work, [
    ...known,
    ...others.filter((end) => end.type !== "tool_end" || !settled.has(end.callId)),
    ...(await interruptedReply(work, "broken")),
    failedEnd(conversation, error),
  ])
}

const NOT_DONE = "Not applied: the server stopped before it ran, and the run was suspended."

/**
 * Asks the targets of interrupted writes what became of them. A write is in doubt only if its target cannot tell
 * either.
 */
async function askTargets(work: Work): Promise<EndOfCall[]> {
  const started = work.conversation.calls.filter(({ state, proposal }) => state === "started" && proposal !== undefined)
  // Asking seems to have ended the process, too.
  if ((work.conversation.run?.blames ?? 0) > work.ports.limits.restarts) return []
  const outcomes = await Promise.all(started.map((call) => whatBecameOf(work, call, NOT_DONE)))
  return outcomes.flatMap((became) => (became ? [became.end] : []))
}

/** Ends a run that needs no final reply of the model. */
export function endRun(work: Work, { reason }: Extract<NextStep, { type: "end-run" }>): Promise<void> {
  return record(work, [{ type: "run_ended", status: "completed", reason }])
}
