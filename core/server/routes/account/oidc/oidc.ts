import type { Hono } from "hono"
import { failure } from "../../../../protocol/errors.ts"
import { routes } from "../../../../protocol/routes/index.ts"
import { type RateLimits, spendSignIn } from "../../../auth/rate-limits.ts"
import type { Env } from "../../../auth/credentials.ts"
import { serveRoute } from "../../../request/serve-route.ts"
import type { Issuer, OidcPorts } from "../ports.ts"

/** Routes before authentication: signing in through an issuer. Their code is loaded with the first request. */
export function oidcRoutes(app: Hono<Env>, ports: OidcPorts, limits: RateLimits): void {
  const { issuer } = ports

  serveRoute(app, routes.readSignInWays, () => ({ oidc: issuer ? { label: issuer.settings.label } : null }))

  // Before the body is read and the issuer is asked: the limit of sign-in links applies.
  for (const { path, method } of [routes.beginIssuerSignIn, routes.finishIssuerSignIn])
    app.use(path, async (c, next) => {
      if (c.req.method === method) await spendSignIn(limits, c.get("source").address)
      await next()
    })
  serveRoute(app, routes.beginIssuerSignIn, async (c) => (await import("./sign-in.ts")).begin(c, ports, known(issuer)))
  serveRoute(app, routes.finishIssuerSignIn, async (c, { body }) =>
    (await import("./sign-in.ts")).finish(c, ports, { ...body, issuer: known(issuer) }),
  )

  if (!issuer) return
  app.get("/sign-in/callback", async (c) => (await import("./callback-page.ts")).showCallback(c))
  app.get("/sign-in/callback.js", async (c) => (await import("./callback-page.ts")).showCallbackScript(c))
}

function known(issuer: Issuer | undefined): Issuer {
  if (!issuer) throw failure("not_found")
  return issuer
}
