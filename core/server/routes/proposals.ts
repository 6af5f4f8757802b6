import type { Hono } from "hono"
import { DEFAULT_GRANT_USES } from "../../protocol/proposals/proposal.ts"
import { routes } from "../../protocol/routes/index.ts"
import { actorOf, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { approve, edit, reject, resolveDoubt, requireDeviceOnline, proposeAgain, undo } from "../conversation/decide.ts"
import { findProposal, findConversation, findAudit } from "../conversation/find.ts"
import type { ConversationPorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import { decideAll } from "../../engine/runtime/runtime.ts"
import { whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import { failure } from "../../protocol/errors.ts"
import { requireModeAllowed } from "../conversation/settings.ts"
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
  serveRoute(app, routes.undoWrite, async (c) => undo(ports, await findAudit(c, ports), actorOf(c)))
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
