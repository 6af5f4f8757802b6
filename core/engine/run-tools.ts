import { hasCode } from "../protocol/errors.ts"
import { isClientCall } from "./calls/client-tools.ts"
import { delegateCall } from "./calls/lasting-call.ts"
import { cancelledEnd, runRead, stoppedEnd } from "./calls/run-read.ts"
import { toolEnd } from "./calls/tool-end.ts"
import { type Call, openCalls } from "./conversation.ts"
import { runWrite } from "./gate/run-write.ts"
import { needsProposal } from "./gate/policy.ts"
import { isCancelled } from "./inbox.ts"
import { record, type Stop, type Work } from "./record.ts"

/** The most reads of one reply that run concurrently. */
const PARALLEL_READS = 8

/** Executes the calls that are ready: all reads concurrently, and one approved write. */
export async function runTools(work: Work): Promise<void> {
  const { conversation, agent } = work
  const isFree = ({ name }: Call) => !needsProposal(conversation, agent.tools.find(name))
  // A tool of the agent takes precedence over a client's tool of the same name.
  const isDelegated = (call: Call) => !agent.tools.find(call.name) && isClientCall(conversation, call)
  const open = openCalls(conversation)
  const reads = open.filter((call) => call.state === "new" && isFree(call))
  await inParallel(reads, (call) => (isDelegated(call) ? delegateCall(work, call) : runRead(work, call)))
  // One per step, so that a cancel or a change to read-only between two writes takes effect before the second.
  const write = open.find((call) => call.state === "approved")
  if (write) await runOrLeave(work, write)
}

/**
 * A write that has not started when the work must stop is not started. Without a result, a later run would try it
 * again.
 */
function runOrLeave(work: Work, call: Call): Promise<void> {
  const { signal, ports } = work
  if (!signal.aborted) return runWrite(work, call)
  const end = stoppedEnd(work, call, ports.clock.now())
  const text = "It was interrupted, and it is unknown whether it was done. Do not repeat it unless the person asks."
  return record(work, [call.attempts > 0 ? { ...end, status: "in_doubt", text } : end])
}

/** At most PARALLEL_READS concurrently. All have ended when it returns or throws, so nothing is left running. */
export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  if (items.length === 1) return run(items[0] as T)
  let next = 0
  const lane = async () => {
    while (next < items.length) await run(items[next++] as T)
  }
  const lanes = Array.from({ length: Math.min(PARALLEL_READS, items.length) }, lane)
  const ended = await Promise.allSettled(lanes)
  const reasons = ended.flatMap((lane): unknown[] => (lane.status === "rejected" ? [lane.reason] : []))
  // If one commit fails, the others fail with `lease_lost`. Throw the first cause, not its consequences.
  if (reasons.length > 0) throw reasons.find((reason) => !hasCode(reason, "lease_lost")) ?? reasons[0]
}

/**
 * Recovers calls that were started by a writer that failed. `afterCrash` of each tool decides whether a call is
 * repeated.
 */
export async function recoverCalls(work: Work): Promise<void> {
  const started = work.conversation.calls.filter((call) => call.state === "started")
  await inParallel(
    started.filter((call) => !call.proposal),
    (call) => recoverRead(work, call),
  )
  for (const call of started) if (call.proposal) await recoverWrite(work, call)
}

function recoverRead(work: Work, call: Call): Promise<void> {
  // The run was cancelled, so the result is not needed. What a call with stored state started is cancelled first.
  if (isCancelled(work.conversation)) {
    if (call.kept) return runRead({ ...work, signal: AbortSignal.abort("cancel" satisfies Stop) }, call)
    return record(work, [cancelledEnd(work.conversation, call, work.ports.clock.now())])
  }
  // A call that has stored state continues with it: its target is asked for the result and not called again.
  if (call.kept || work.agent.tools.find(call.name)?.afterCrash === "run-again") return runRead(work, call)
  const text = "Interrupted by a restart before it ended. Do not repeat it unless the person asks."
  return record(work, [toolEnd(work.conversation, call, { status: "interrupted", text, now: work.ports.clock.now() })])
}

function recoverWrite(work: Work, call: Call): Promise<void> {
  const tool = work.agent.tools.find(call.name)
  if (tool && (call.kept || tool.afterCrash !== "in-doubt")) return runWrite(work, call)
  return record(work, [{ type: "in_doubt", callId: call.id, because: "The server stopped while this was being done." }])
}
