import type { Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { isId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { beginSession, toIdentity } from "./begin-session.ts"
import type { AccountPorts } from "./ports.ts"
import { type RateLimits, spendSignIn } from "../../door/rate-limits.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { sessionCookie } from "../../door/session-cookie.ts"
import { sendPage, sendScript } from "./send-page.ts"
import { page, script } from "./sign-in-page.ts"

const NO_SESSION = "Only a session can sign out. A token is revoked: DELETE /api/tokens/{id}."

/** Before the door: the page that a link leads to, and the one request that turns the link into a session. */
export function signInRoutes(app: Hono<Env>, ports: AccountPorts, limits: RateLimits): void {
  app.get("/sign-in", (c) => sendPage(c, page))
  app.get("/sign-in.js", (c) => sendScript(c, script))

  // Before a byte of the body is read: who has had their tries does not get to send us more.
  app.use(routes.signIn.path, async (c, next) => {
    if (c.req.method === routes.signIn.method) await spendSignIn(limits, c.get("source").address)
    await next()
  })
  serveRoute(app, routes.signIn, (c, { body }) => beginSession(c, ports, body.secret))
}

/** Behind the door: who I am, where else I am signed in, and out. */
export function sessionRoutes(app: Hono<Env>, { sessions, credentials, streams, address, clock }: AccountPorts): void {
  const cookie = sessionCookie(address)

  serveRoute(app, routes.readIdentity, (c) => toIdentity(c.get("caller")))

  serveRoute(app, routes.signOut, async (c) => {
    const { credential } = c.get("caller")
    const secret = cookie.read(c)
    if (credential.type !== "session" || !secret) throw failure("bad_request", { problem: NO_SESSION })
    await sessions.end(secret)
    streams.ended(credential.id)
    cookie.clear(c)
    return null
  })

  serveRoute(app, routes.createTicket, (c) => credentials.createTicket(c.get("caller"), clock.now()))

  serveRoute(app, routes.listSessions, async (c, { query }) => {
    const { items, nextCursor } = await sessions.list(userOf(c), query, clock.now())
    const { id } = c.get("caller").credential
    return { items: items.map((session) => ({ ...session, current: session.id === id })), nextCursor }
  })

  serveRoute(app, routes.revokeSession, async (c) => {
    const id = c.req.param("id") ?? ""
    if (!isId("sess", id)) throw failure("not_found")
    await sessions.revoke(userOf(c), id, clock.now())
    await streams.revoked(id)
    return null
  })
}
