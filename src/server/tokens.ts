import type { Hono } from "hono"
import { failure } from "../protocol/errors.ts"
import { isId } from "../protocol/ids.ts"
import { routes } from "../protocol/routes/index.ts"
import { usualScopes } from "../protocol/scopes.ts"
import { type Env, userOf } from "./caller.ts"
import type { ServerPorts } from "./ports.ts"
import { serveRoute } from "./serve-route.ts"

/** Tokens for programs, made and taken back by whoever they act for. */
export function tokenRoutes(app: Hono<Env>, { people, streams, runtime }: ServerPorts): void {
  const { clock } = runtime.ports

  serveRoute(app, routes.listTokens, (c, { query }) => people.listTokens(userOf(c), query))

  serveRoute(app, routes.createToken, async (c, { body }) => {
    const { person, scopes: own } = c.get("caller")
    // Nobody gives away more than they have; who asks for nothing special gets the part of the usual that they have.
    const granted = body.scopes ? [...new Set(body.scopes)] : usualScopes.filter((scope) => own.has(scope))
    const missing = granted.find((scope) => !own.has(scope))
    if (missing !== undefined) throw failure("forbidden", { scope: missing })
    const now = clock.now()
    const name = body.name ?? null
    const { id, token } = await people.createToken(person, granted, now, name)
    return { id, name, scopes: granted, createdAt: new Date(now).toISOString(), token }
  })

  serveRoute(app, routes.revokeToken, async (c) => {
    const id = c.req.param("id") ?? ""
    if (!isId("tok", id)) throw failure("not_found")
    await people.revokeToken(c.get("caller").person, id, clock.now())
    await streams.revoked(id)
    return null
  })
}
