import type { Hono } from "hono"
import type { ModelAnswer } from "../../../protocol/answers.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { type Env, userOf } from "../../door/caller.ts"
import { chooseModel } from "../../conversation/settings.ts"
import { findConversation } from "../../conversation/find.ts"
import { defaultOf } from "../../conversation/named-models.ts"
import type { ModelCatalogue, ServerPorts } from "../../ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** The models of this server, and which of them a conversation has. */
export function modelRoutes(app: Hono<Env>, ports: ServerPorts): void {
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

interface Asked extends Pick<ConversationView, "id" | "model"> {
  readonly user: UserId
}

export async function modelAnswer(models: ModelCatalogue, { id, model, user }: Asked): Promise<ModelAnswer> {
  const listed = await models.list(user)
  const names = Object.fromEntries(listed.map(({ name, available }) => [name, available]))
  return { conversationId: id, model: model ?? (await defaultOf(models, user)), models: names }
}
