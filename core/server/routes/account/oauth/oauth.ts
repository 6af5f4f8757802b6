import type { Hono } from "hono"
import { grantTypes, programScopes } from "../../../../protocol/account/sign-in.ts"
import { routes } from "../../../../protocol/routes/index.ts"
import { requireBaseUrl } from "../../../auth/origins.ts"
import { type RateLimits, spend } from "../../../auth/rate-limits.ts"
import type { Env } from "../../../auth/credentials.ts"
import { serveRoute } from "../../../request/serve-route.ts"
import type { OAuthPorts } from "../ports.ts"

/** Routes before authentication: discovery, registration, exchange. Their code is loaded with the first request. */
export function oauthRoutes(app: Hono<Env>, ports: OAuthPorts, limits: RateLimits): void {
  const { address } = ports

  for (const route of [routes.readProtectedResource, routes.readProtectedMcp])
    serveRoute(app, route, (c) => {
      const base = requireBaseUrl(c, address)
      return {
        ...{ resource: `${base}/mcp`, resource_name: "Pawl", authorization_servers: [base] },
        ...{ scopes_supported: [...programScopes], bearer_methods_supported: ["header"] },
      }
    })

  serveRoute(app, routes.readAuthorizationServer, (c) => {
    const base = requireBaseUrl(c, address)
    return {
      ...{ issuer: base, authorization_endpoint: `${base}/oauth/authorize`, token_endpoint: `${base}/oauth/token` },
      ...{ registration_endpoint: `${base}/oauth/register`, response_types_supported: ["code"] },
      ...{ grant_types_supported: [...grantTypes], code_challenge_methods_supported: ["S256"] },
      ...{ token_endpoint_auth_methods_supported: ["none"], scopes_supported: [...programScopes] },
      authorization_response_iss_parameter_supported: true as const,
    }
  })

  // Before the body is read: unauthenticated requests use up their own limit.
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

/** Routes after authentication: the signed-in person's consent. */
export function consentRoutes(app: Hono<Env>, ports: OAuthPorts): void {
  serveRoute(app, routes.readConsent, async (c, { query }) =>
    (await import("./consent.ts")).readConsent(c, ports, query),
  )
  serveRoute(app, routes.giveConsent, async (c, { body }) => (await import("./consent.ts")).giveConsent(c, ports, body))
}
