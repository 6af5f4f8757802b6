import type { Call } from "../conversation.ts"
import { record, type Work } from "../record.ts"
import { toolEnd } from "./tool-end.ts"

/** Hands a call over to its program. It is on record before anybody is told, and until when the result is waited for. */
export function handOver(work: Work, call: Call): Promise<void> {
  const { conversation, ports } = work
  const now = ports.clock.now()
  if (call.invalidInput !== undefined) {
    const text = `The arguments of ${call.name} were not a JSON object: ${call.invalidInput.slice(0, 200)} Send an object.`
    return record(work, [toolEnd(conversation, call, { status: "error", text, now })])
  }
  const expiresAt = now + ports.policy.proposalMinutes * 60_000
  return record(work, [{ type: "handed_over", callId: call.id, expiresAt }])
}
