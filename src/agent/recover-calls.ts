import { toolEnd } from "./calls/tool-end.ts"
import { isCancelled } from "./inbox.ts"
import type { Call } from "./conversation.ts"
import { record, type Work } from "./record.ts"
import { inParallel } from "./run-tools.ts"
import { cancelledEnd, runRead } from "./calls/run-read.ts"
import { runWrite } from "./gate/run-write.ts"

/** Calls that were started by a writer that died. Each tool has said what that means for it; none is repeated unasked. */
export async function recoverCalls(work: Work): Promise<void> {
  const started = work.conversation.calls.filter((call) => call.state === "started")
  await inParallel(
    started.filter((call) => !call.proposal),
    (call) => recoverRead(work, call),
  )
  for (const call of started) if (call.proposal) await recoverWrite(work, call)
}

function recoverRead(work: Work, call: Call): Promise<void> {
  // Cancelled before the crash, or since: nobody wants its answer any more.
  if (isCancelled(work.conversation))
    return record(work, [cancelledEnd(work.conversation, call, work.ports.clock.now())])
  // One that has kept something goes on with what it has begun: its target is asked, not told again.
  if (call.kept || work.agent.tools.find(call.name)?.afterCrash === "run-again") return runRead(work, call)
  const text = "Broken off by a restart before it ended, and it may not be repeated unasked."
  return record(work, [toolEnd(work.conversation, call, { status: "interrupted", text, now: work.ports.clock.now() })])
}

function recoverWrite(work: Work, call: Call): Promise<void> {
  const tool = work.agent.tools.find(call.name)
  if (tool && (call.kept || tool.afterCrash !== "in-doubt")) return runWrite(work, call)
  return record(work, [{ type: "in_doubt", callId: call.id, because: "The server stopped while this was being done." }])
}
