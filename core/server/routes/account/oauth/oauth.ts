import type { Hono } from "hono"
import { grantTypes, programScopes } from "../../../../protocol/account/sign-in.ts"
import { routes } from "../../../../protocol/routes/index.ts"
import { publicBase } from "../../../auth/origins.ts"
import { type RateLimits, spend } from "../../../auth/rate-limits.ts"
import type { Env } from "../../../auth/credentials.ts"
import { serveRoute } from "../../../request/serve-route.ts"
import type { OAuthPorts } from "../ports.ts"

/** Before the door: what a program finds out by itself. What does the work is loaded by the first that comes. */
export function oauthRoutes(app: Hono<Env>, ports: OAuthPorts, limits: RateLimits): void {
  const { address } = ports

  for (const route of [routes.readProtectedResource, routes.readProtectedMcp])
    serveRoute(app, route, (c) => {
      const base = publicBase(c, address)
      return {
        ...{ resource: `${base}/mcp`, resource_name: "Pawl", authorization_servers: [base] },
        ...{ scopes_supported: [...programScopes], bearer_methods_supported: ["header"] },
      }
    })

  serveRoute(app, routes.readAuthorizationServer, (c) => {
    const base = publicBase(c, address)
    return {
      ...{ issuer: base, authorization_endpoint: `${base}/oauth/authorize`, token_endpoint: `${base}/oauth/token` },
      ...{ registration_endpoint: `${base}/oauth/register`, response_types_supported: ["code"] },
      ...{ grant_types_supported: [...grantTypes], code_challenge_methods_supported: ["S256"] },
      ...{ token_endpoint_auth_methods_supported: ["none"], scopes_supported: [...programScopes] },
      authorization_response_iss_parameter_supported: true as const,
    }
  })

  // Before a byte of the body is read: strangers use up what strangers may.
  for (const { path } of [routes.registerClient, routes.exchangeCode])
    app.use(path, async (c, next) => {
      spend(limits.strangers, c.get("source").address)
      await next()
    })
  serveRoute(app, routes.registerClient, async (c, { body }) => (await import("./exchange.ts")).register(c, body))
  serveRoute(app, routes.exchangeCode, async (c) => (await import("./exchange.ts")).exchange(c, ports))

  app.get("/oauth/authorize", async (c) => (await import("./consent-page.ts")).showPage(c))
  app.get("/oauth/authorize.js", async (c) => (await import("./consent-page.ts")).showScript(c))
}

/** Behind the door: what the signed-in person says to it. */
export function consentRoutes(app: Hono<Env>, ports: OAuthPorts): void {
  serveRoute(app, routes.readConsent, async (c, { query }) =>
    (await import("./consent.ts")).readConsent(c, ports, query),
  )
  serveRoute(app, routes.giveConsent, async (c, { body }) => (await import("./consent.ts")).giveConsent(c, ports, body))
}
