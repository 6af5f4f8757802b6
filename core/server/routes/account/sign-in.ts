import type { Hono, Context } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { isId, type TokenId, type DeviceRequestId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf, sessionCookie } from "../../auth/caller.ts"
import type { Env, Caller, AuthPorts } from "../../auth/credentials.ts"
import type { AccountPorts } from "./ports.ts"
import { type RateLimits, spendSignIn } from "../../auth/rate-limits.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { sendPage, sendScript, page, script } from "./sign-in-page.ts"
import { type Identity, type Credential, defaultScopes } from "../../../protocol/account/sign-in.ts"
import { mendText } from "../../../shared/text/text.ts"

const NO_SESSION = "Only a session can sign out. A token is revoked: DELETE /api/tokens/{id}."

/** Routes before authentication: the page that a link opens, and the exchange of a link for a session. */
export function signInRoutes(app: Hono<Env>, ports: AccountPorts, limits: RateLimits): void {
  app.get("/sign-in", (c) => sendPage(c, page))
  app.get("/sign-in.js", (c) => sendScript(c, script))

  // Before the body is read: a client without attempts left cannot send more.
  app.use(routes.signIn.path, async (c, next) => {
    if (c.req.method === routes.signIn.method) await spendSignIn(limits, c.get("source").address)
    await next()
  })
  serveRoute(app, routes.signIn, (c, { body }) => startSession(c, ports, body.secret))
}

/** Routes after authentication: identity, sessions, sign-out. */
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

const MAX_BROWSER = 200

/**
 * Exchanges a sign-in link's secret: sets the session cookie and returns the second credential, which the page stores.
 */
export async function startSession(
  c: Context<Env>,
  { sessions, address, clock }: Pick<AuthPorts, "sessions" | "address" | "clock">,
  secret: string,
) {
  const cookie = sessionCookie(address)
  const browser = c.req.header("user-agent")?.slice(0, MAX_BROWSER)
  const secrets = await sessions.signIn(secret, browser ? mendText(browser) : null, clock.now())
  const session = secrets && (await sessions.bySecrets(secrets, clock.now()))
  if (!secrets || !session || session === "half") throw failure("link_spent")
  // The cookie is replaced, so the previous session could never be used or ended by this browser again.
  const before = cookie.read(c)
  if (before) await sessions.end(before)
  cookie.write(c, secrets.secret)
  return { ...toIdentity(session.known), pageSecret: secrets.pageSecret, next: "/" }
}

function toIdentity({ person, scopes, credential }: Caller): Identity {
  const { type, id, expiresAt } = credential
  const expires = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
  return {
    user: { id: person.id, name: person.name },
    scopes: [...scopes],
    credential: { type, id, expiresAt: expires },
  }
}

/** Tokens for programs, created and revoked by the person they act for. */
export function tokenRoutes(app: Hono<Env>, { people, storage, streams, clock }: AccountPorts): void {
  serveRoute(app, routes.listTokens, (c, { query }) => people.listTokens(userOf(c), query, clock.now()))

  serveRoute(app, routes.createToken, async (c, { body }) => {
    const { person, scopes: own, credential } = c.get("caller")
    // A token has at most the scopes of its creator; by default those of the default scopes that the creator has.
    const granted = body.scopes ? [...new Set(body.scopes)] : defaultScopes.filter((scope) => own.has(scope))
    const missing = granted.find((scope) => !own.has(scope))
    if (missing !== undefined) throw failure("forbidden", { scope: missing })
    const now = clock.now()
    if (granted.includes("admin")) demandFreshSignIn(credential, now)
    const name = body.name ?? null
    const { expiresAt: latest = Infinity, ...lineage } = boundsOf(credential)
    const until = Math.min(latest, body.days ? now + body.days * DAY_MS : Infinity)
    const expiresAt = until === Infinity ? null : until
    // The table itself refuses no token, because signing in must work: a program that creates them without end stops here.
    await storage.demandRoom(person.id)
    const { id, token } = await people.createToken(person, granted, now, { name, expiresAt, ...lineage })
    return {
      id,
      name,
      scopes: granted,
      createdAt: toTime(now),
      expiresAt: expiresAt === null ? null : toTime(expiresAt),
      token,
    }
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
const DAY_MS = 24 * 60 * 60_000

const toTime = (at: number): string => new Date(at).toISOString()

/** An admin token needs a fresh sign-in: someone who finds an open browser must not become administrator. */
function demandFreshSignIn({ signedInAt = 0 }: Credential, now: number): void {
  if (now - signedInAt > FRESH_MINUTES * 60_000) throw failure("fresh_sign_in_needed", { minutes: FRESH_MINUTES })
}

/**
 * A token that a program creates must not outlive the program's own token. A session belongs to a person, who may create
 * lasting ones.
 */
function boundsOf({ type, id, expiresAt, mintedBy }: Credential): { mintedBy?: TokenId; expiresAt?: number } {
  if (type === "session") return {}
  if (mintedBy !== undefined) throw failure("minted_token")
  return { ...(type === "token" ? { mintedBy: id as TokenId } : {}), ...(expiresAt === undefined ? {} : { expiresAt }) }
}

/** The connected devices, and the requests of credentials to act as a device of another credential. */
export function deviceRoutes(app: Hono<Env>, { devices, deviceOwners }: AccountPorts): void {
  serveRoute(app, routes.listDevices, async (c) => {
    const items = (await devices.of(userOf(c))).flatMap(({ introduced, connectedAt }) => {
      if (!introduced) return []
      const { deviceId, ledger, offers } = introduced
      return [{ deviceId, ledger, offers: [...offers], connectedAt: new Date(connectedAt).toISOString() }]
    })
    return { items, nextCursor: null }
  })

  serveRoute(app, routes.listDeviceRequests, async (c) => ({
    items: await deviceOwners.requests(userOf(c)),
    nextCursor: null,
  }))

  serveRoute(app, routes.allowDeviceRequest, async (c) => {
    const { person, credential } = c.get("caller")
    const { name, lineage } = await deviceOwners.allow(person.id, requestOf(c), credential)
    await devices.reassignName(person.id, name, lineage)
    return null
  })

  serveRoute(app, routes.refuseDeviceRequest, async (c) => {
    await deviceOwners.refuse(userOf(c), requestOf(c))
    return null
  })
}

function requestOf(c: Context<Env>): DeviceRequestId {
  const id = c.req.param("id") ?? ""
  if (!isId("dreq", id)) throw failure("not_found")
  return id
}
