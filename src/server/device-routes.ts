import type { Hono } from "hono"
import { routes } from "../protocol/routes/index.ts"
import { type Env, userOf } from "./caller.ts"
import type { ServerPorts } from "./ports.ts"
import { serveRoute } from "./serve-route.ts"

/** Which devices are there. */
export function deviceRoutes(app: Hono<Env>, { devices }: ServerPorts): void {
  serveRoute(app, routes.listDevices, (c) => {
    const items = devices.of(userOf(c)).flatMap(({ introduced, connectedAt }) => {
      if (!introduced) return []
      const { deviceId, ledger, offers } = introduced
      return [{ deviceId, ledger, offers: [...offers], connectedAt: new Date(connectedAt).toISOString() }]
    })
    return { items, nextCursor: null }
  })
}
