import { hasCode } from "../protocol/errors.ts"
import { type Call, openCalls } from "./conversation.ts"
import { isClientCall } from "./calls/client-tools.ts"
import { handOver } from "./calls/hand-over.ts"
import { runRead, stoppedEnd } from "./calls/run-read.ts"
import { runWrite } from "./gate/run-write.ts"
import { record, type Work } from "./record.ts"
import { isGated } from "./gate/outside-and-private.ts"

/** At most this many reads of one reply run at the same time. */
const PARALLEL_READS = 8

/** Runs what may run now: the reads, beside each other, and one of the writes that a person (or policy) has approved. */
export async function runTools(work: Work): Promise<void> {
  const { conversation, agent } = work
  const isFree = ({ name }: Call) => !isGated(conversation, agent.tools.find(name))
  // A tool of ours comes first, whatever a program calls its own.
  const isHandedOver = (call: Call) => !agent.tools.find(call.name) && isClientCall(conversation, call)
  const open = openCalls(conversation)
  const reads = open.filter((call) => call.state === "new" && isFree(call))
  await inParallel(reads, (call) => (isHandedOver(call) ? handOver(work, call) : runRead(work, call)))
  // One a step: whoever says stop, or read-only, between two writes is heard before the second.
  const write = open.find((call) => call.state === "approved")
  if (write) await runOrLeave(work, write)
}

/** A write that has not begun when the work must stop never does; left without a result it would be tried for ever. */
function runOrLeave(work: Work, call: Call): Promise<void> {
  const { signal, ports } = work
  if (!signal.aborted) return runWrite(work, call)
  const end = stoppedEnd(work, call, ports.clock.now())
  const text = "It was broken off and it is not known whether it was done. Do not repeat it unasked."
  return record(work, [call.attempts > 0 ? { ...end, status: "in_doubt", text } : end])
}

/** At most PARALLEL_READS at a time. All have ended when it returns or throws: nothing goes on behind the loop's back. */
export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  if (items.length === 1) return run(items[0] as T)
  let next = 0
  const lane = async () => {
    while (next < items.length) await run(items[next++] as T)
  }
  const lanes = Array.from({ length: Math.min(PARALLEL_READS, items.length) }, lane)
  const ended = await Promise.allSettled(lanes)
  const reasons = ended.flatMap((lane): unknown[] => (lane.status === "rejected" ? [lane.reason] : []))
  // Where one commit fails the others find the lease gone: what counts is the first cause, not its echo.
  if (reasons.length > 0) throw reasons.find((reason) => !hasCode(reason, "lease_lost")) ?? reasons[0]
}
