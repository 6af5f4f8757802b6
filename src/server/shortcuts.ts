import { Hono } from "hono"
import { decideAll } from "../agent/decide-all.ts"
import { failure } from "../protocol/errors.ts"
import { Shortcut } from "../protocol/requests.ts"
import { allowMode } from "./choices.ts"
import { type Env, needs, userOf } from "./caller.ts"
import { findConversation } from "./find.ts"
import { readBody } from "./input.ts"
import type { ServerPorts } from "./ports.ts"

/** One answer to several proposals, as a person gives it: yes, no, and the two that are meant for good. */
export function shortcutRoutes(ports: ServerPorts): Hono<Env> {
  const app = new Hono<Env>()

  app.post("/conversations/:id/decide", needs("approve"), async (c) => {
    const { id } = await findConversation(c, ports)
    const { decision, proposalIds } = await readBody(c, Shortcut)
    if (decision === "all") allowMode(c, ports, "auto")
    const shown = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    if (shown.some((proposal) => proposal?.conversationId !== id)) throw failure("not_found")
    await decideAll(ports.runtime, id, { decision, proposalIds, by: userOf(c) })
    await ports.runtime.rest(id)
    const decided = await Promise.all(proposalIds.map((proposal) => ports.proposals.find(userOf(c), proposal)))
    return c.json({ proposals: decided })
  })

  return app
}
