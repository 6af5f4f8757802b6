import { isIP } from "node:net"
import type { Context, MiddlewareHandler } from "hono"
import { failure } from "../../protocol/errors.ts"
import type { Env } from "./request-env.ts"
import type { ServerAddress } from "./ports.ts"

const UNSAFE = new Set(["POST", "PUT", "PATCH", "DELETE"])
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"])

/**
 * Refuses requests that a web page has tricked a browser into (promise 16). A page can point a name of its own at this
 * machine, but then the Host header says that name; and it cannot hide its Origin when it changes something or opens a
 * socket.
 */
export function checkHostAndOrigin({ host, publicUrl, allowedOrigins = [] }: ServerAddress): MiddlewareHandler<Env> {
  const published = publicUrl ? new URL(publicUrl) : undefined
  const names = new Set([host.toLowerCase(), ...(published ? [published.hostname.toLowerCase()] : [])])
  // A name can be made to point here, an address cannot: whoever listens on every address is reached by any of them.
  const anyAddress = EVERY_ADDRESS.has(host)
  const isOurs = (name: string) => isLoopback(name) || names.has(name) || (anyAddress && isIP(name) !== 0)
  const origins = new Set(allowedOrigins)

  return async (c, next) => {
    const { host: asked, scheme } = c.get("source")
    const name = toName(asked)
    if (name === undefined || !isOurs(name)) throw failure("wrong_host", { host: asked.slice(0, 200) })
    const origin = c.req.header("origin")
    const asks = UNSAFE.has(c.req.method) || isUpgrade(c)
    if (origin !== undefined && asks && !origins.has(origin) && !isOwn(origin, { asked, scheme, published })) {
      throw failure("wrong_origin", { origin: origin.slice(0, 200) })
    }
    await next()
  }
}

/**
 * Refuses a cookie that a page of another site makes the browser send. Asked only about callers with a cookie, which a
 * browser adds by itself; a token has to be known to be sent.
 */
export function refuseCrossSite(c: Context<Env>, { allowedOrigins = [] }: ServerAddress): void {
  const site = c.req.header("sec-fetch-site")
  const origin = c.req.header("origin")
  // The operator's other origins have tokens: a session is for the pages of this server.
  if (origin !== undefined && allowedOrigins.includes(origin)) throw failure("cross_site")
  if (UNSAFE.has(c.req.method)) {
    // An origin that is here has been found to be ours. Where browsers tell both, `same-origin` also means the scheme.
    const fine = site === undefined ? origin !== undefined : site === "same-origin"
    if (!fine) throw failure("cross_site")
    return
  }
  // Browsers send it to every https and loopback address; where it is missing a program asks, or one that cannot say, and
  // then SameSite=Strict has kept the cookie of other sites' requests at home.
  if (site === undefined || site === "same-origin" || site === "none") return
  throw failure("cross_site")
}

export const isUpgrade = (c: Context): boolean => c.req.header("upgrade")?.toLowerCase() === "websocket"

/** The name in `name:port`, brackets of an IPv6 address taken off. */
function toName(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1")
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

interface Place {
  readonly asked: string
  readonly scheme: string | undefined
  readonly published: URL | undefined
}

/**
 * A page of ours: it came from the very name and port that it asks, and from our scheme where we know it. Otherwise
 * whoever sits on the way to the plain http page of our name could drive the https one.
 */
function isOwn(origin: string, { asked, scheme, published }: Place): boolean {
  const at = URL.parse(`${scheme ?? "http"}://${asked}`)
  if (published && URL.parse(`${published.protocol}//${asked}`)?.host === published.host)
    return origin === published.origin
  return scheme === undefined ? URL.parse(origin)?.host === at?.host : origin === at?.origin
}
