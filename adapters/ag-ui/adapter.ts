import type { Hono } from "hono"
import { type Adapter, type Env, serveRoute, type ServerPorts } from "../../core/adapter.ts"
import { routes } from "../../core/protocol/index.ts"

/** AG-UI. The first request of each kind loads its code. */
export const agUiAdapter: Adapter = { paths: ["/ag-ui/*"], serve: serveAgUi }

function serveAgUi(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.runAgUi, async (c, { body }) => (await import("./answer-run.ts")).answerRun(c, ports, body))

  serveRoute(app, routes.connectAgUi, async (c, { body }) =>
    (await import("./connect.ts")).connectThread(c, ports, body),
  )
}
