import type { Hono } from "hono"
import { USUAL_USES } from "../../../protocol/proposals/grant.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { approve, edit, reject } from "../../conversation/decide-proposal.ts"
import { findProposal } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { resolveDoubt } from "../../conversation/resolve-doubt.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Looking at proposals and deciding them. A decision is recorded here; the loop alone carries it out. */
export function proposalRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.listProposals, (c, { query }) => {
    return ports.proposals.list(userOf(c), query)
  })

  serveRoute(app, routes.readProposal, (c) => findProposal(c, ports))

  serveRoute(app, routes.commitProposal, async (c, { body: { always } }) => {
    const uses = always && { uses: always === true ? USUAL_USES : always.uses }
    return approve(ports, await findProposal(c, ports), { ...doneBy(c), ...uses })
  })

  serveRoute(app, routes.rejectProposal, async (c, { body: { reason } }) => {
    return reject(ports, await findProposal(c, ports), { ...doneBy(c), reason })
  })

  serveRoute(app, routes.resolveProposal, async (c, { body: { choice } }) => {
    return resolveDoubt(ports, await findProposal(c, ports), { choice, ...doneBy(c) })
  })

  serveRoute(app, routes.editProposal, async (c, { body }) => {
    return edit(ports, await findProposal(c, ports), { edited: body.arguments, ...doneBy(c) })
  })
}
