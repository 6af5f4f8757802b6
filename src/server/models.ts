import type { Hono } from "hono"
import type { ModelAnswer } from "../protocol/answers.ts"
import type { ConversationView } from "../protocol/conversation.ts"
import { hasCode } from "../protocol/errors.ts"
import { routes } from "../protocol/routes/index.ts"
import type { Env } from "./caller.ts"
import { chooseModel } from "./choices.ts"
import { findConversation } from "./find.ts"
import type { ModelList, ServerPorts } from "./ports.ts"
import { serveRoute } from "./serve-route.ts"

/** The models of this server, and which of them a conversation has. */
export function modelRoutes(app: Hono<Env>, ports: ServerPorts): void {
  const { models, runtime } = ports

  serveRoute(app, routes.listModels, () => ({ items: models.list(), default: defaultOf(models) }))

  serveRoute(app, routes.readModel, async (c) => {
    const { id, model } = await findConversation(c, ports)
    return toAnswer(models, id, model)
  })

  serveRoute(app, routes.chooseModel, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const chosen = await chooseModel(ports, body.name)
    await runtime.submit(id, { type: "settings", ...chosen })
    return toAnswer(models, id, chosen.model)
  })
}

function toAnswer(models: ModelList, conversationId: ConversationView["id"], model: string | null): ModelAnswer {
  const names = Object.fromEntries(models.list().map(({ name, available }) => [name, available]))
  return { conversationId, model: model ?? defaultOf(models), models: names }
}

/** What a conversation gets that chose none; null where it has to choose first. */
function defaultOf(models: ModelList): string | null {
  try {
    return models.defaultName()
  } catch (error) {
    if (hasCode(error, "no_model_selected") || hasCode(error, "unknown_model")) return null
    throw error
  }
}
