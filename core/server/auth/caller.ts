import { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import type { Context, MiddlewareHandler } from "hono"
import type { MessageInput } from "../../engine/input.ts"
import { failure } from "../../protocol/errors.ts"
import { defaultScopes, type Scope } from "../../protocol/account/sign-in.ts"
import type { AppUser, Env, Caller, AuthPorts, ServerAddress, NodeBindings } from "./credentials.ts"
import { isUpgrade, refuseCrossSite } from "./origins.ts"
import { type RateLimits, spend, UnreadResponses } from "./rate-limits.ts"
import { markAuthenticated } from "./connection-limits.ts"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"

/**
 * The header that the page sends with its cookie. Browsers send a cookie to every port of a host, so also to other
 * servers on this machine; the page stores this secret for its own origin only.
 */
const PAGE_SECRET = "x-pawl-session"

export const TICKET = "pawl.ticket."

/** Requests that change nothing: their answer may be withheld. */
const SAFE = new Set(["GET", "HEAD"])

/** Authenticates the caller, or refuses. Every route, stream and socket passes through here. */
export function identify(ports: AuthPorts, limits: RateLimits): MiddlewareHandler<Env> {
  const cookie = sessionCookie(ports.address)
  const unread = ports.unread ?? new UnreadResponses()
  const turns = new FairTurns()

  return async (c, next) => {
    const caller = await callerOf(c)
    if (!caller) {
      spend(limits.strangers, c.get("source").address)
      throw failure("unauthenticated")
    }
    const { resource } = caller.credential
    if (resource !== undefined && URL.parse(resource)?.pathname !== c.req.path)
      throw failure("wrong_resource", { resource })
    const { id } = caller.person
    spend(limits.people, id)
    const turn = turns.enter(id)
    if (turn) await turn
    unread.requireRoom(id)
    c.set("caller", ports.storesTraces ? { ...caller, trace: traceOf(c) } : caller)
    markAuthenticated(c.env?.incoming?.socket)
    const { outgoing, hooks } = (c.env ?? {}) as Partial<NodeBindings> & BufferingHooks
    if (hooks) hooks.mayWait = () => !unread.isFull(id)
    await next()
    if (!outgoing) return
    // Each of many simultaneous requests was admitted above. Withhold the answer if the caller already has too much
    // unread.
    if (SAFE.has(c.req.method) && unread.isFull(id)) {
      c.res.body?.cancel().catch(() => {})
      c.res = undefined // drop its headers too: they do not belong to the refusal
      unread.requireRoom(id)
    }
    unread.watch(id, outgoing)
  }

  /** A request with a token is judged by the token alone: a valid cookie does not make up for a bad token. */
  function callerOf(c: Context<Env>): Promise<Caller | undefined> {
    const shown = c.req.header("authorization")
    if (shown !== undefined) return byBearer(shown)
    if (ports.appUser) return byAppSession(c, ports.appUser)
    if (isUpgrade(c)) return byTicket(c.req.header("sec-websocket-protocol") ?? "")
    return byCookie(c)
  }

  async function byBearer(shown: string): Promise<Caller | undefined> {
    const [, token] = /^Bearer +(\S+)$/i.exec(shown) ?? []
    if (token === undefined) return undefined
    const claims = token.includes(".") ? await ports.jwt?.read(token) : undefined
    if (!claims) return ports.people.byToken(token, now())
    const { scopes, credential } = claims
    return { person: await ports.people.ofIssuer(claims, now()), scopes: new Set(scopes), credential }
  }

  /** The app knows its users, so a name that it returns is a user of Pawl from the first request on. */
  async function byAppSession(c: Context<Env>, appUser: AppUser): Promise<Caller | undefined> {
    const name = await appUser(c.req.raw)
    if (!name) return undefined
    // A browser adds the app's cookie to requests of other sites too.
    if (c.req.header("cookie") !== undefined) refuseCrossSite(c, ports.address)
    const person = await ports.people.ensure(name, now())
    return { person, scopes: new Set(defaultScopes), credential: { type: "app", id: `app_${person.id}` } }
  }

  /** A browser cannot set a header on a socket, and any site can make it send our cookie, so sockets use a ticket. */
  async function byTicket(protocols: string): Promise<Caller | undefined> {
    const offered = protocols.split(",").map((protocol) => protocol.trim())
    const ticket = offered.find((protocol) => protocol.startsWith(TICKET))
    return ticket === undefined ? undefined : ports.credentials.redeemTicket(ticket.slice(TICKET.length), now())
  }

  async function byCookie(c: Context<Env>): Promise<Caller | undefined> {
    const secret = cookie.read(c)
    const pageSecret = c.req.header(PAGE_SECRET)
    const session = secret ? await ports.sessions.bySecrets({ secret, pageSecret }, now()) : undefined
    if (!secret || !session) return undefined
    refuseCrossSite(c, ports.address)
    if (session === "half") throw halfSession(c)
    if (session.renewed) cookie.write(c, secret)
    return session.known
  }

  /** Guessing the page secret costs as much as guessing a token. */
  function halfSession(c: Context<Env>): Error {
    spend(limits.strangers, c.get("source").address)
    return failure("half_session")
  }

  function now(): number {
    return ports.clock.now()
  }
}

/**
 * Lets an event stream check whether its reader may fall further behind. `mayWait`: unread data is buffered instead of
 * cutting the reader off.
 */
interface BufferingHooks {
  hooks?: { mayWait?: () => boolean }
}

/** Throws `forbidden` unless the caller has the scope. */
export const requireScope = (c: Context<Env>, scope: Scope): void => requireScopeOf(c.get("caller"), scope)

export function requireScopeOf({ scopes }: Caller, scope: Scope): void {
  if (!scopes.has(scope)) throw failure("forbidden", { scope })
}

export const userOf = (c: Context<Env>) => c.get("caller").person.id

/**
 * The fields of a message that depend on its caller: revoking this credential stops the run, and without the scope
 * `approve` the run asks before each write.
 */
export const senderFields = ({
  credential,
  scopes,
  trace,
}: Caller): Pick<MessageInput, "credential" | "asks" | "trace"> => ({
  credential: credential.id,
  ...(scopes.has("approve") ? {} : { asks: true }),
  ...(trace ? { trace } : {}),
})

/**
 * The format of W3C Trace Context; all zeros are invalid. Ignored on sockets, which outlive the request that opened them.
 */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

function traceOf(c: Context<Env>): string | undefined {
  const traceparent = c.req.header("traceparent")
  return traceparent !== undefined && TRACEPARENT.test(traceparent) && !isUpgrade(c) ? traceparent : undefined
}

/** The user who acts, and the credential whose revocation stops the run. */
export const actorOf = (c: Context<Env>) => ({ by: userOf(c), credential: c.get("caller").credential.id })

const SESSION_SECONDS = 30 * 24 * 60 * 60
export const ATTEMPT_SECONDS = 10 * 60

/** The session cookie: not readable by scripts, and sent by our own pages only. */
export const sessionCookie = (address: ServerAddress) => createCookie("pawl_session", SESSION_SECONDS, address)

/** The cookie of a pending sign-in at an issuer. Our page sends it after the redirect, so it can be `Strict` too. */
export const attemptCookie = (address: ServerAddress) => createCookie("pawl_sign_in", ATTEMPT_SECONDS, address)

function createCookie(called: string, seconds: number, { publicUrl }: ServerAddress) {
  const isSecure = (c: Context<Env>) => publicUrl?.startsWith("https:") || c.get("source").scheme === "https"
  // With the `__Host-` prefix, browsers refuse a cookie set by a sibling domain or by the plain http page. Ports of a
  // host share cookies: the port in the name separates two servers on one machine.
  const nameFor = (c: Context<Env>) => `${isSecure(c) ? "__Host-" : ""}${called}${portOf(c.get("source").host)}`
  const optionsFor = (c: Context<Env>) =>
    ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(c) }) as const
  return {
    read: (c: Context<Env>): string | undefined => getCookie(c, nameFor(c)),
    write: (c: Context<Env>, secret: string): void =>
      setCookie(c, nameFor(c), secret, { ...optionsFor(c), maxAge: seconds }),
    clear: (c: Context<Env>): void => void deleteCookie(c, nameFor(c), optionsFor(c)),
  }
}

/** `_7295`, or empty if the address has the default port of its scheme. */
function portOf(host: string): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? "" : `_${port}`
}
