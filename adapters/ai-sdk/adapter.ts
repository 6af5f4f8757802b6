import type { Hono } from "hono"
import { type Adapter, type Env, serveRoute, type ServerPorts } from "../../core/adapter.ts"
import { routes } from "../../core/protocol/index.ts"

/** `useChat` of the AI SDK. The first request of each kind loads its code. */
export const aiSdkAdapter: Adapter = { paths: ["/ai-sdk/*"], serve: serveAiSdk }

function serveAiSdk(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.sendUiMessages, async (c, { body }) =>
    (await import("./send-message.ts")).answerUiChat(c, ports, body),
  )

  serveRoute(app, routes.resumeUiStream, async (c, { query }) =>
    (await import("./stream-run.ts")).resumeStream(c, ports, query),
  )

  serveRoute(app, routes.readUiChat, async (c, { query }) =>
    (await import("./read-chat.ts")).readUiChat(c, ports, query),
  )

  serveRoute(app, routes.stopUiStream, async (c, { body }) =>
    (await import("./stream-run.ts")).stopStream(c, ports, body),
  )
}
