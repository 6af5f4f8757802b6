import type { Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { isId, type TokenId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { usualScopes } from "../../../protocol/account/scopes.ts"
import type { Credential } from "../../../protocol/account/sign-in.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { AccountPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Tokens for programs, made and taken back by whoever they act for. */
export function tokenRoutes(app: Hono<Env>, { people, streams, clock }: AccountPorts): void {
  serveRoute(app, routes.listTokens, (c, { query }) => people.listTokens(userOf(c), query, clock.now()))

  serveRoute(app, routes.createToken, async (c, { body }) => {
    const { person, scopes: own, credential } = c.get("caller")
    // Nobody gives away more than they have; who asks for nothing special gets the part of the usual that they have.
    const granted = body.scopes ? [...new Set(body.scopes)] : usualScopes.filter((scope) => own.has(scope))
    const missing = granted.find((scope) => !own.has(scope))
    if (missing !== undefined) throw failure("forbidden", { scope: missing })
    const now = clock.now()
    if (granted.includes("admin")) demandFreshSignIn(credential, now)
    const name = body.name ?? null
    const { id, token } = await people.createToken(person, granted, now, { name, ...boundsOf(credential) })
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

const FRESH_MINUTES = 10

/** An admin token needs a fresh sign-in: somebody who found a browser open must not become administrator for good. */
function demandFreshSignIn({ signedInAt = 0 }: Credential, now: number): void {
  if (now - signedInAt > FRESH_MINUTES * 60_000) throw failure("fresh_sign_in_needed", { minutes: FRESH_MINUTES })
}

/** What a program comes in with makes nothing that outlives it. A session is a person, who may leave something behind. */
function boundsOf({ type, id, expiresAt, mintedBy }: Credential): { mintedBy?: TokenId; expiresAt?: number } {
  if (type === "session") return {}
  if (mintedBy !== undefined) throw failure("minted_token")
  return { ...(type === "token" ? { mintedBy: id as TokenId } : {}), ...(expiresAt === undefined ? {} : { expiresAt }) }
}
