import type { Hono } from "hono"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import { toOpenApi } from "./openapi.ts"
import { toReferencePage } from "./reference-page.ts"
import { type PackRoutes, toRoute } from "../packs/packs.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** The reference, printed once, when first asked for. */
export function referenceRoutes(
  app: Hono<Env>,
  { version, packRoutes = [] }: { readonly version: string } & PackRoutes,
): void {
  const added = Object.fromEntries(packRoutes.map((route) => [`${route.pack}_${route.name}`, toRoute(route)]))
  let document: string | undefined
  let page: string | undefined

  serveRoute(app, routes.openapi, (c) => {
    document ??= JSON.stringify(toOpenApi(version, added))
    return c.body(document, 200, { "content-type": "application/json" })
  })

  serveRoute(app, routes.docs, (c) => {
    page ??= toReferencePage(version, added)
    // No script may run here, whatever a description says.
    return c.html(page, 200, { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" })
  })
}
