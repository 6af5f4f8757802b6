import type { Hono } from "hono"
import { fallbackOf } from "../../../agent/fallback.ts"
import type { ModelAnswer } from "../../../protocol/answers.ts"
import type { ConversationId } from "../../../protocol/ids.ts"
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

  serveRoute(app, routes.listModels, async (c, { query: { refresh, wait } }) => {
    const user = userOf(c)
    const look = { refresh: refresh === "true", waitMs: wait * 1000 }
    const seen = (await models.look?.(user, look)) ?? { items: await models.list(user) }
    return { ...seen, default: await defaultOf(models, user) }
  })

  serveRoute(app, routes.readModel, async (c) => {
    const { id, model } = await findConversation(c, ports)
    return { ...(await modelAnswer(models, { id, model, user: userOf(c) })), fallback: await readFallback(id) }
  })

  serveRoute(app, routes.chooseModel, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const chosen = await chooseModel(c.get("caller"), ports, body.name)
    await runtime.submit(id, { type: "settings", ...chosen })
    const answer = await modelAnswer(models, { id, model: chosen.model, user: userOf(c) })
    return { ...answer, fallback: await readFallback(id) }
  })

  async function readFallback(id: ConversationId): Promise<ModelAnswer["fallback"]> {
    const conversation = await ports.journal.load(id, true)
    const agent = ports.agents.orEmpty(conversation.agent)
    const from = conversation.fallback ? "conversation" : agent.fallback ? "agent" : "server"
    return { models: [...fallbackOf({ conversation, agent, ports })], from }
  }
}
