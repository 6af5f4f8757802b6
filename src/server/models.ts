import { Hono } from "hono"
import type { ModelAnswer } from "../protocol/answers.ts"
import type { ConversationView } from "../protocol/conversation.ts"
import { hasCode } from "../protocol/errors.ts"
import { ModelChoice } from "../protocol/requests.ts"
import { type Env, needs } from "./caller.ts"
import { chooseModel } from "./choices.ts"
import { findConversation } from "./find.ts"
import { readBody } from "./input.ts"
import type { ModelList, ServerPorts } from "./ports.ts"

/** The models of this server, and which of them a conversation has. */
export function modelRoutes(ports: ServerPorts): Hono<Env> {
  const { models, runtime } = ports
  const app = new Hono<Env>()

  app.get("/models", needs("read"), (c) => c.json({ items: models.list(), default: defaultOf(models) }))

  app.get("/conversations/:id/model", needs("read"), async (c) => {
    const { id, model } = await findConversation(c, ports)
    return c.json(toAnswer(models, id, model))
  })

  app.post("/conversations/:id/model", needs("chat"), async (c) => {
    const { id } = await findConversation(c, ports)
    const { name } = await readBody(c, ModelChoice)
    const chosen = await chooseModel(ports, name)
    await runtime.submit(id, { type: "settings", ...chosen })
    return c.json(toAnswer(models, id, chosen.model))
  })

  return app
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
