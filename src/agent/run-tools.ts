import { hasCode } from "../protocol/errors.ts"
import { openCalls } from "./conversation.ts"
import { runRead } from "./run-read.ts"
import { runWrite } from "./run-write.ts"
import type { Work } from "./record.ts"

/** So many reads of one reply run at once. */
const PARALLEL_READS = 8

/** Runs what may run now: reads beside each other, then the writes a person (or policy) has approved, one by one. */
export async function runTools(work: Work): Promise<void> {
  const isWrite = (name: string) => work.agent.tools.find(name)?.effect === "write"
  const open = openCalls(work.conversation)
  const reads = open.filter((call) => call.state === "new" && !isWrite(call.name))
  await inParallel(reads, (call) => runRead(work, call))
  for (const call of open) if (call.state === "approved" && !work.signal.aborted) await runWrite(work, call)
}

/** At most PARALLEL_READS at a time. All have ended when it returns or throws: nothing goes on behind the loop's back. */
export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
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
