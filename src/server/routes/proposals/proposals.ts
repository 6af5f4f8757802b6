import type { Context, Hono } from "hono"
import { parse } from "../../../agent/schema.ts"
import { failure } from "../../../protocol/errors.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { USUAL_USES } from "../../../protocol/proposals/grant.ts"
import type { ProposalId } from "../../../protocol/ids.ts"
import type { Proposal } from "../../../protocol/proposals/proposal.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { carriedOut, decideAndWait, settles } from "../../conversation/decide.ts"
import { findProposal } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { refuseOffline } from "../../conversation/require-device.ts"
import { resolveDoubt } from "../../conversation/resolve-doubt.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Looking at proposals and deciding them. A decision is recorded here; the loop alone carries it out. */
export function proposalRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.listProposals, (c, { query }) => {
    return ports.proposals.list(userOf(c), query)
  })

  serveRoute(app, routes.readProposal, (c) => findProposal(c, ports))

  serveRoute(app, routes.commitProposal, async (c, { body: { always } }) => {
    const proposal = await findProposal(c, ports)
    const { id, callId, conversationId } = proposal
    await refuseOffline(ports, userOf(c), proposal)
    const grant = always && { uses: always === true ? USUAL_USES : always.uses }
    const agreed = { type: "decide", proposalId: id, decision: "commit", ...doneBy(c) } as const
    const input = grant ? { ...agreed, grant } : agreed
    await decideAndWait(ports, { user: userOf(c), input, conversationId, happens: (event) => settles(event, callId) })
    return carriedOut(ports, userOf(c), id)
  })

  serveRoute(app, routes.rejectProposal, async (c, { body: { reason } }) => {
    const { id, callId, conversationId } = await findProposal(c, ports)
    const input = {
      type: "decide",
      proposalId: id,
      decision: "reject",
      ...doneBy(c),
      ...(reason ? { reason } : {}),
    } as const
    await decideAndWait(ports, { user: userOf(c), input, conversationId, happens: (event) => settles(event, callId) })
    return findProposal(c, ports)
  })

  serveRoute(app, routes.resolveProposal, async (c, { body: { choice } }) => {
    return resolveDoubt(ports, await findProposal(c, ports), { choice, ...doneBy(c) })
  })

  serveRoute(app, routes.editProposal, async (c, { body }) => {
    const proposal = await findProposal(c, ports)
    const edited = body.arguments
    await refuseOffline(ports, userOf(c), proposal)
    await refuseMisfit(c, ports, { proposal, edited })
    let successor: ProposalId | undefined
    let problem = "it could not be proposed anew"
    const happens = (event: JournalEvent) => {
      successor ??= proposedIn(event).find(({ callId }) => callId === proposal.callId)?.id
      if (event.type === "tool_end" && event.callId === proposal.callId) problem = event.text
      return successor !== undefined || settles(event, proposal.callId)
    }
    const input = { type: "edit", proposalId: proposal.id, arguments: edited, ...doneBy(c) } as const
    await decideAndWait(ports, { user: userOf(c), input, conversationId: proposal.conversationId, happens })
    const made = successor && (await ports.proposals.find(userOf(c), successor))
    if (!made) throw failure("bad_request", { problem })
    return made
  })
}

export function proposedIn(event: JournalEvent) {
  if (event.type === "proposal") return [event.proposal]
  return event.type === "awaiting_confirmation" ? event.proposals : []
}

/** Arguments that the tool would not take are refused before anything is recorded. */
async function refuseMisfit(
  c: Context<Env>,
  { agents, conversations }: ConversationPorts,
  { proposal, edited }: { proposal: Proposal; edited: Record<string, unknown> },
): Promise<void> {
  const conversation = await conversations.find(userOf(c), proposal.conversationId)
  const tool = agents.orEmpty(conversation?.agent ?? "").tools.find(proposal.tool)
  if (!tool) return
  const parsed = await parse(tool.input, edited)
  if ("problem" in parsed) throw failure("bad_request", { problem: `arguments: ${parsed.problem}` })
}
