import type { Hono } from "hono"
import { routes } from "../../core/protocol/routes/index.ts"
import { type Adapter, type Env, serveRoute, type ServerPorts } from "../../core/adapter.ts"

/** `useChat` of the AI SDK over the same conversations. The first request of each kind loads what answers it. */
export const aiSdkAdapter: Adapter = { paths: ["/ai-sdk/*"], serve: serveAiSdk }

function serveAiSdk(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.sendUiMessages, async (c, { body }) =>
    (await import("./send-message.ts")).answerUiChat(c, ports, body),
  )

  serveRoute(app, routes.resumeUiStream, async (c, { query }) =>
    (await import("./stream-run.ts")).resumeStream(c, ports, query),
  )

  serveRoute(app, routes.readUiChat, async (c, { query }) => (await import("./read-chat.ts")).tellChat(c, ports, query))

  serveRoute(app, routes.stopUiStream, async (c, { body }) =>
    (await import("./stream-run.ts")).stopStream(c, ports, body),
  )
}
