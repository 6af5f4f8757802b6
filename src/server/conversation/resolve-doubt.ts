import { failure } from "../../protocol/errors.ts"
import type { RunId, UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { carriedOut, decideAndWait, type DecidingPorts, settles } from "./decide.ts"
import { refuseOffline } from "./require-device.ts"

export interface Resolving {
  readonly by: UserId
  readonly credential?: string
  readonly choice: "retry" | "done" | "abandon"
}

/** Settles a write in doubt as a person says, by whichever door they came; resolves with what came of it. */
export async function resolveDoubt(
  ports: DecidingPorts,
  proposal: Proposal,
  { by, credential, choice }: Resolving,
): Promise<Proposal> {
  const { id, callId, conversationId, runId } = proposal
  if (choice === "retry") {
    await refuseLateRetry(ports, by, runId)
    await refuseOffline(ports, by, proposal)
  }
  const input = { type: "resolve", proposalId: id, choice, by, ...(credential ? { credential } : {}) } as const
  await decideAndWait(ports, { user: by, input, conversationId, happens: (event) => settles(event, callId) })
  return carriedOut(ports, by, id)
}

/** A call is tried again by its own run; where that is over, only what became of it can still be said. */
async function refuseLateRetry({ conversations }: DecidingPorts, user: UserId, runId: RunId): Promise<void> {
  const run = await conversations.run(user, runId)
  if (run?.status === "paused" || run?.status === "running") return
  throw failure("bad_request", { problem: 'choice: the run of this call is over; choose "done" or "abandon".' })
}
