import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { StreamPorts } from "../../stream/ports.ts"

/** AG-UI over the same conversations. What translates is loaded by the first request that needs it. */
export function agUiRoutes(app: Hono<Env>, ports: StreamPorts): void {
  serveRoute(app, routes.runAgUi, async (c, { body }) => (await import("./answer-run.ts")).answerRun(c, ports, body))

  serveRoute(app, routes.connectAgUi, async (c, { body }) =>
    (await import("./open-again.ts")).connectThread(c, ports, body),
  )
}
