import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { OpenAiPorts } from "./ports.ts"

/** OpenAI's API over the same conversations. What translates is loaded by the first request that needs it. */
export function openAiRoutes(app: Hono<Env>, ports: OpenAiPorts): void {
  serveRoute(app, routes.listOpenAiModels, async (c) => (await import("./answers.ts")).listModels(c, ports))

  serveRoute(app, routes.createChatCompletion, async (c, { body }) =>
    (await import("./answers.ts")).answerChat(c, ports, body),
  )

  serveRoute(app, routes.createResponse, async (c, { body }) =>
    (await import("./answers.ts")).answerResponse(c, ports, body),
  )

  serveRoute(app, routes.readResponse, async (c, { query }) =>
    (await import("./read-response.ts")).tellResponse(c, ports, query),
  )

  serveRoute(app, routes.listInputItems, async (c, { query }) =>
    (await import("./input-items.ts")).listInputItems(c, ports, query),
  )

  serveRoute(app, routes.deleteResponse, async (c) => (await import("./delete-response.ts")).deleteResponse(c, ports))

  serveRoute(app, routes.cancelResponse, async (c) => (await import("./read-response.ts")).cancelResponse(c, ports))
}
