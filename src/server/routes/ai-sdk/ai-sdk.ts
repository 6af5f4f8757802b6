import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { AiSdkPorts } from "./ports.ts"

/** `useChat` of the AI SDK over the same conversations. What translates is loaded by the first request that needs it. */
export function aiSdkRoutes(app: Hono<Env>, ports: AiSdkPorts): void {
  serveRoute(app, routes.sendUiMessages, async (c, { body }) =>
    (await import("./answer-chat.ts")).answerUiChat(c, ports, body),
  )

  serveRoute(app, routes.resumeUiStream, async (c, { query }) =>
    (await import("./resume-stream.ts")).resumeStream(c, ports, query),
  )

  serveRoute(app, routes.readUiChat, async (c, { query }) => (await import("./tell-chat.ts")).tellChat(c, ports, query))

  serveRoute(app, routes.stopUiStream, async (c, { body }) =>
    (await import("./stop-stream.ts")).stopStream(c, ports, body),
  )
}
