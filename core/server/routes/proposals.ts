import type { Hono, Context } from "hono"
import { DEFAULT_GRANT_USES } from "../../protocol/proposals/proposal.ts"
import { routes } from "../../protocol/routes/index.ts"
import { actorOf, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import {
  approve,
  edit,
  reject,
  resolveDoubt,
  requireDeviceOnline,
  proposeAgain,
  proposalsIn,
} from "../conversation/decide.ts"
import { findProposal, findConversation, conversationOf, findAudit } from "../conversation/find.ts"
import type { ConversationPorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import { decideAll } from "../../engine/runtime/runtime.ts"
import { whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import { failure, AppError, hasCode } from "../../protocol/errors.ts"
import { requireModeAllowed } from "../conversation/settings.ts"
import type { UndoInput } from "../../engine/input.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { newId, type ProposalId } from "../../protocol/ids.ts"
import { waitForEvent } from "../conversation/wait-for-event.ts"
import { grantsOf } from "../../engine/gate/grants.ts"

/** Reading proposals and deciding them. A decision is recorded here; only the loop executes it. */
export function proposalRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.listProposals, (c, { query }) => {
    return ports.proposals.list(userOf(c), query)
  })

  serveRoute(app, routes.readProposal, (c) => findProposal(c, ports))

  serveRoute(app, routes.commitProposal, async (c, { body: { always } }) => {
    const grant = always && { uses: DEFAULT_GRANT_USES, ...(always === true ? {} : always) }
    return approve(ports, await findProposal(c, ports), { ...actorOf(c), ...(grant ? { grant } : {}) })
  })

  serveRoute(app, routes.rejectProposal, async (c, { body: { reason } }) => {
    return reject(ports, await findProposal(c, ports), { ...actorOf(c), reason })
  })

  serveRoute(app, routes.resolveProposal, async (c, { body: { choice } }) => {
    return resolveDoubt(ports, await findProposal(c, ports), { choice, ...actorOf(c) })
  })

  serveRoute(app, routes.editProposal, async (c, { body }) => {
    return edit(ports, await findProposal(c, ports), { edited: body.arguments, ...actorOf(c) })
  })
}

/** One decision for several proposals: yes, no, or for the rest of the conversation. */
export function shortcutRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.decideAll, async (c, { body: { decision, proposalIds } }) => {
    const { id } = await findConversation(c, ports)
    if (decision === "all") requireModeAllowed(c.get("caller"), ports, "auto")
    const shown = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    if (shown.some((proposal) => proposal?.conversationId !== id)) throw failure("not_found")
    if (decision === "yes" || decision === "all") {
      for (const proposal of shown) if (proposal) await requireDeviceOnline(ports, userOf(c), proposal)
    }
    await decideAll(ports.runtime, id, { decision, proposalIds, ...actorOf(c) })
    await whenIdleAnywhere(ports, id)
    const decided = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    return { proposals: decided.filter((proposal) => proposal !== undefined) }
  })
}

/** Proposes expired writes again, and marks them as seen. */
export function repeatRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.proposeAgain, async (c) => proposeAgain(ports, await findProposal(c, ports), actorOf(c)))

  serveRoute(app, routes.seeProposal, async (c) => {
    const { id, conversationId } = await findProposal(c, ports)
    const user = userOf(c)
    if (await ports.proposals.see(user, id)) ports.bus.publish(conversationId, { type: "seen", user })
    return findProposal(c, ports)
  })
}

/** Undo: proposes the inverse of a write, which needs a decision like any other write. */
export function undoRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.undoWrite, async (c) => {
    const { runtime, proposals } = ports
    const { id, conversationId, inverse, summary, undoneBy } = await findAudit(c, ports)
    if (!inverse) throw failure("not_undoable", { id, problem: "its tool says that nothing takes this back." })
    if (undoneBy) throw await conflict(c, ports, failure("already_undone", { id, by: undoneBy, status: "applied" }))
    const callId = newId("call", userOf(c), ports.clock.now())
    const seen = watchProposal(callId)
    const { position } = await conversationOf(ports, userOf(c), conversationId)
    using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
    const input: UndoInput = { type: "undo", auditId: id, summary, callId, inverse, ...actorOf(c) }
    await runtime.submit(conversationId, input).catch(async (error: unknown) => {
      throw hasCode(error, "already_undone") ? await conflict(c, ports, error as AppError) : error
    })
    await watching.over()
    const made = seen.proposal && (await proposals.find(userOf(c), seen.proposal))
    if (!made) throw failure("not_undoable", { id, problem: seen.problem })
    return made
  })
}

/** Waits until the call is proposed, or ends without a proposal because its target or tool is gone. */
function watchProposal(callId: UndoInput["callId"]) {
  const seen = {
    proposal: undefined as ProposalId | undefined,
    problem: "it could not be proposed.",
    happens(event: JournalEvent): boolean {
      seen.proposal ??= proposalsIn(event).find((proposed) => proposed.callId === callId)?.id
      const ended = event.type === "tool_end" && event.callId === callId
      if (ended) seen.problem = event.text
      return seen.proposal !== undefined || ended
    },
  }
  return seen
}

/** Tells a second caller which proposal was first, and its status. */
async function conflict(c: Context<Env>, { proposals }: ConversationPorts, error: AppError): Promise<AppError> {
  const proposal = await proposals.find(userOf(c), error.details.by as ProposalId)
  return new AppError(error.code, error.message, { ...error.details, proposal })
}

/** Approvals in advance. */
export function grantRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  const { runtime, journal } = ports

  serveRoute(app, routes.listGrants, async (c) => {
    const { id } = await findConversation(c, ports)
    const grants = grantsOf(await journal.load(id, true))
    return { items: grants.map((grant) => ({ ...grant, grantedAt: new Date(grant.grantedAt).toISOString() })) }
  })

  serveRoute(app, routes.revokeGrants, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "revoke", by: userOf(c) })
    return null
  })

  serveRoute(app, routes.revokeGrant, async (c) => {
    const { id } = await findConversation(c, ports)
    await runtime.submit(id, { type: "revoke", tool: c.req.param("tool") ?? "", by: userOf(c) })
    return null
  })
}

export function auditRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.listAudit, (c, { query }) => ports.audit.list(userOf(c), query))

  serveRoute(app, routes.readAudit, (c) => findAudit(c, ports))
}
