import type { Hono } from "hono"
import type { AgainInput } from "../../../agent/input.ts"
import { codeOf, failure } from "../../../protocol/errors.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { newId, type ProposalId } from "../../../protocol/ids.ts"
import type { Proposal } from "../../../protocol/proposals/proposal.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { conflict } from "../../conversation/decide.ts"
import { conversationOf, findProposal, proposalOf } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { proposedIn } from "../../conversation/decide-proposal.ts"
import { requireReachable } from "../../conversation/require-device.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"

/** What expired before anybody decided it: proposing it again, and having seen that it did. */
export function againRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.proposeAgain, async (c) => {
    const { runtime, proposals } = ports
    const proposal = await findProposal(c, ports)
    requireExpired(proposal)
    await requireReachable(ports, userOf(c), proposal)
    const { id, conversationId, summary, tool, arguments: given } = proposal
    const undoes = await proposals.undoneBy(proposal)
    const call = {
      callId: newId("call", userOf(c), ports.clock.now()),
      tool,
      arguments: given,
      ...(undoes ? { undoes } : {}),
    }
    const input: AgainInput = { type: "again", proposalId: id, summary, ...call, ...doneBy(c) }
    const seen = watchProposal([proposal.callId, call.callId])
    const { position } = await conversationOf(ports, userOf(c), conversationId)
    using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
    await runtime.submit(conversationId, input).catch(async (error: unknown) => {
      // Whoever was first has it proposed by now, or is about to: the second caller learns that, and not what that led to.
      const code = codeOf(error)
      if (code === "busy" || code === "still_pending") requireExpired(await proposalOf(ports, userOf(c), id))
      throw error
    })
    await watching.over()
    const made = seen.proposal && (await proposals.find(userOf(c), seen.proposal))
    if (!made) throw failure("bad_request", { problem: seen.problem })
    return made
  })

  serveRoute(app, routes.seeProposal, async (c) => {
    const { id, conversationId } = await findProposal(c, ports)
    const user = userOf(c)
    if (await ports.proposals.see(user, id)) ports.bus.publish(conversationId, { type: "seen", user })
    return findProposal(c, ports)
  })
}

function requireExpired(proposal: Proposal): void {
  const { id, status } = proposal
  if (status === "expired") return
  if (status === "pending") throw conflict(failure("still_pending", { count: 1 }), proposal)
  throw conflict(failure("proposal_decided", { id, status }), proposal)
}

/** Waits until the call is proposed anew, in its own run or in one made for it, or has ended without. */
function watchProposal(calls: readonly AgainInput["callId"][]) {
  const seen = {
    proposal: undefined as ProposalId | undefined,
    problem: "it could not be proposed anew",
    happens(event: JournalEvent): boolean {
      seen.proposal ??= proposedIn(event).find(({ callId }) => calls.includes(callId))?.id
      const ended = event.type === "tool_end" && calls.includes(event.callId) && event.status !== "expired"
      if (ended) seen.problem = event.text
      return seen.proposal !== undefined || ended
    },
  }
  return seen
}
