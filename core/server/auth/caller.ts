import { FairTurns } from "../../shared/concurrency/fair-queue.ts"
import type { Context, MiddlewareHandler } from "hono"
import type { MessageInput } from "../../engine/input.ts"
import { failure } from "../../protocol/errors.ts"
import { defaultScopes, type Scope } from "../../protocol/account/sign-in.ts"
import type { AppUser, Env, Caller, DoorPorts, ServerAddress, NodeBindings } from "./credentials.ts"
import { isUpgrade, refuseCrossSite } from "./origins.ts"
import { type RateLimits, spend, UnreadAnswers } from "./rate-limits.ts"
import { isKnownNow } from "./connection-limits.ts"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"

/**
 * What the page sends beside the cookie. Browsers send a cookie to every port of a host, so to any other server on this
 * machine; what a page keeps is its own origin's.
 */
export const PAGE_SECRET = "x-pawl-session"

export const TICKET = "pawl.ticket."

/** What is asked with these changes nothing, so that an answer to it may be held back. */
const SAFE = new Set(["GET", "HEAD"])

/** Finds out who is asking, or refuses. The one place where that is decided, for every route, stream and socket. */
export function identify(ports: DoorPorts, limits: RateLimits): MiddlewareHandler<Env> {
  const cookie = sessionCookie(ports.address)
  const unread = ports.unread ?? new UnreadAnswers()
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
    unread.demandRoom(id)
    c.set("caller", ports.keepsTraces ? { ...caller, trace: traceOf(c) } : caller)
    isKnownNow(c.env?.incoming?.socket)
    const { outgoing, line } = (c.env ?? {}) as Partial<NodeBindings> & WaitingLine
    if (line) line.mayWait = () => !unread.isFull(id)
    await next()
    if (!outgoing) return
    // Of many that ask at once each was let in; of what they are answered no more waits than may.
    if (SAFE.has(c.req.method) && unread.isFull(id)) {
      c.res.body?.cancel().catch(() => {})
      c.res = undefined // nothing of its head belongs to the refusal
      unread.demandRoom(id)
    }
    unread.watch(id, outgoing)
  }

  /** A request with a token is judged by the token alone: a bad token is not saved by a good cookie. */
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

  /** A browser can set no header on a socket, and its cookie would be sent by any page: it shows a ticket instead. */
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

  /** Guessing at the page's secret costs what guessing at a token does. */
  function halfSession(c: Context<Env>): Error {
    spend(limits.strangers, c.get("source").address)
    return failure("half_session")
  }

  function now(): number {
    return ports.clock.now()
  }
}

/** The way of an answer that goes on; `mayWait`: what its reader has not taken is kept for them, and not cut off. */
export interface WaitingLine {
  line?: { mayWait?: () => boolean }
}

/** Lets through only whoever holds the scope. */
export const demand = (c: Context<Env>, scope: Scope): void => demandOf(c.get("caller"), scope)

export function demandOf({ scopes }: Caller, scope: Scope): void {
  if (!scopes.has(scope)) throw failure("forbidden", { scope })
}

export const userOf = (c: Context<Env>) => c.get("caller").person.id

/** What goes along with words: the run that they set going stops with this credential, and approves nothing that it may not. */
export const spokenBy = ({
  credential,
  scopes,
  trace,
}: Caller): Pick<MessageInput, "credential" | "asks" | "trace"> => ({
  credential: credential.id,
  ...(scopes.has("approve") ? {} : { asks: true }),
  ...(trace ? { trace } : {}),
})

/** As W3C's Trace Context has it; all zeros are nobody's. A socket lives longer than what it was opened for. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

function traceOf(c: Context<Env>): string | undefined {
  const given = c.req.header("traceparent")
  return given !== undefined && TRACEPARENT.test(given) && !isUpgrade(c) ? given : undefined
}

/** Who does something, and the credential that the run it sets going stops with. */
export const doneBy = (c: Context<Env>) => ({ by: userOf(c), credential: c.get("caller").credential.id })

const SESSION_SECONDS = 30 * 24 * 60 * 60
export const ATTEMPT_SECONDS = 10 * 60

/** The cookie of a session: out of reach of scripts, and sent by our own pages only. */
export const sessionCookie = (address: ServerAddress) => ownCookie("pawl_session", SESSION_SECONDS, address)

/** The same for a sign-in at an issuer, while it lasts. Our page sends it, not the issuer's redirect: so it, too, is `Strict`. */
export const attemptCookie = (address: ServerAddress) => ownCookie("pawl_sign_in", ATTEMPT_SECONDS, address)

function ownCookie(called: string, seconds: number, { publicUrl }: ServerAddress) {
  const isSecure = (c: Context<Env>) => publicUrl?.startsWith("https:") || c.get("source").scheme === "https"
  // The prefix makes browsers refuse one that a neighbouring name or the plain http page has planted. Ports of a host share
  // their cookies: with the port in its name, two servers on one machine do not sign each other's people out.
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

/** `_7295`; empty where the address has none, because it is the usual one of its scheme. */
function portOf(host: string): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? "" : `_${port}`
}
