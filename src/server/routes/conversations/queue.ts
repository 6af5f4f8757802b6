import type { Context, Hono } from "hono"
import { refuseText } from "../../../agent/accept/refuse-input.ts"
import { failure } from "../../../protocol/errors.ts"
import type { ConversationId, MessageId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { spokenBy } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findConversation, messageOf } from "../../conversation/find.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Messages that wait while a run works. */
export function queueRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { queue, bus } = ports

  serveRoute(app, routes.listQueue, async (c) => {
    const { id } = await findConversation(c, ports)
    return { items: await queue.list(id) }
  })

  serveRoute(app, routes.editQueued, async (c, { body: { text } }) => {
    const { id } = await findConversation(c, ports)
    const message = messageOf(c)
    refuseText({ type: "message", id: message, text, when: "queue" })
    const [before] = (await queue.list(id)).filter((queued) => queued.id === message)
    if (!before || !(await queue.edit(id, message, { text, ...asksOf(c) }))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return { ...before, text }
  })

  serveRoute(app, routes.withdrawQueued, async (c) => {
    const { id } = await findConversation(c, ports)
    const message = messageOf(c)
    if (!(await queue.withdraw(id, message))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return null
  })

  serveRoute(app, routes.sendQueued, async (c) => {
    const { id, status } = await findConversation(c, ports)
    const message = messageOf(c)
    const [before] = (await queue.list(id)).filter((queued) => queued.id === message)
    if (!before) throw await whyNot(ports, id, message)
    // A run that works or waits for a person is not overtaken: what waits behind it has its turn when that is over.
    if (status === "running" || status === "awaiting_confirmation") throw failure("busy", { id })
    if (!(await queue.release(id, message, asksOf(c)))) throw await whyNot(ports, id, message)
    bus.wake(id)
    return c.json(before, 202)
  })
}

/** Words that were changed or let go by somebody who may not approve are no longer those of who may. */
const asksOf = (c: Context<Env>): { asks?: true } => {
  const { asks } = spokenBy(c.get("caller"))
  return asks ? { asks } : {}
}

async function whyNot({ conversations }: ConversationRoutePorts, id: ConversationId, message: MessageId) {
  const place = await conversations.placeOf(id, message)
  return place === undefined ? failure("not_found") : failure("message_taken", { id: message })
}
