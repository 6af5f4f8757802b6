import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { chooseModel } from "../../conversation/settings.ts"
import { findConversation } from "../../conversation/find.ts"
import { defaultOf, modelAnswer } from "../../conversation/named-models.ts"
import type { ModelRoutePorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** The models of this server, and which of them a conversation has. */
export function modelRoutes(app: Hono<Env>, ports: ModelRoutePorts): void {
  const { models, runtime } = ports

  serveRoute(app, routes.listModels, async (c) => {
    return { items: await models.list(userOf(c)), default: await defaultOf(models, userOf(c)) }
  })

  serveRoute(app, routes.readModel, async (c) => {
    const { id, model } = await findConversation(c, ports)
    return modelAnswer(models, { id, model, user: userOf(c) })
  })

  serveRoute(app, routes.chooseModel, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const chosen = await chooseModel(c.get("caller"), ports, body.name)
    await runtime.submit(id, { type: "settings", ...chosen })
    return modelAnswer(models, { id, model: chosen.model, user: userOf(c) })
  })
}
