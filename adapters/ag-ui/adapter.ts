import type { Hono } from "hono"
import { routes } from "../../core/protocol/routes/index.ts"
import { type Adapter, type Env, serveRoute, type ServerPorts } from "../../core/adapter.ts"

/** AG-UI over the same conversations. The first request of each kind loads what answers it. */
export const agUiAdapter: Adapter = { paths: ["/ag-ui/*"], serve: serveAgUi }

function serveAgUi(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.runAgUi, async (c, { body }) => (await import("./answer-run.ts")).answerRun(c, ports, body))

  serveRoute(app, routes.connectAgUi, async (c, { body }) =>
    (await import("./connect.ts")).connectThread(c, ports, body),
  )
}
