import type { Hono } from "hono"
import { decideAll } from "../../../agent/runtime/decide-all.ts"
import { restAnywhere } from "../../../agent/runtime/rest-anywhere.ts"
import { failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { allowMode } from "../../conversation/settings.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findConversation } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { refuseOffline } from "../../conversation/require-device.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** One answer to several proposals, as a person gives it: yes, no, and the two that are meant for good. */
export function shortcutRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.decideAll, async (c, { body: { decision, proposalIds } }) => {
    const { id } = await findConversation(c, ports)
    if (decision === "all") allowMode(c.get("caller"), ports, "auto")
    const shown = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    if (shown.some((proposal) => proposal?.conversationId !== id)) throw failure("not_found")
    if (decision === "yes" || decision === "all") {
      for (const proposal of shown) if (proposal) await refuseOffline(ports, userOf(c), proposal)
    }
    await decideAll(ports.runtime, id, { decision, proposalIds, ...doneBy(c) })
    await restAnywhere(ports, id)
    const decided = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    return { proposals: decided.filter((proposal) => proposal !== undefined) }
  })
}
