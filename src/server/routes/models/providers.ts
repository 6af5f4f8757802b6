import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { ModelRoutePorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Keys and addresses that people bring for themselves. */
export function providerRoutes(app: Hono<Env>, { providers }: ModelRoutePorts): void {
  serveRoute(app, routes.listProviders, async (c) => ({ items: await providers.list(userOf(c)) }))

  serveRoute(app, routes.readProvider, (c) => providers.find(userOf(c), c.req.param("name") ?? ""))

  serveRoute(app, routes.saveProvider, async (c, { body }) => {
    const name = c.req.param("name") ?? ""
    await providers.save(userOf(c), name, body)
    return providers.find(userOf(c), name)
  })

  serveRoute(app, routes.changeProvider, async (c, { body }) => {
    const name = c.req.param("name") ?? ""
    await providers.change(userOf(c), name, body)
    return providers.find(userOf(c), name)
  })

  serveRoute(app, routes.removeProvider, async (c) => {
    await providers.remove(userOf(c), c.req.param("name") ?? "")
    return null
  })
}
