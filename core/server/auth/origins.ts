import { BlockList, isIP } from "node:net"
import type { Context, MiddlewareHandler } from "hono"
import type { RequestSource, Env, ServerAddress } from "./credentials.ts"
import { failure } from "../../protocol/errors.ts"
import { networkInterfaces } from "node:os"

/**
 * Finds out from where and for which name a request came. A header can be written by anyone, so what `X-Forwarded-*`
 * says counts only where the peer itself is a proxy that the operator has named.
 */
export function readRequestSource({ trustedProxies = [] }: ServerAddress): MiddlewareHandler<Env> {
  const trusted = toBlockList(trustedProxies)
  return async (c, next) => {
    c.set("source", sourceOf(c, trusted))
    await next()
  }
}

function sourceOf(c: Context<Env>, trusted: BlockList): RequestSource {
  const host = c.req.header("host") ?? new URL(c.req.url).host
  const peer = plainAddress(c.env?.incoming?.socket.remoteAddress ?? "")
  if (!isTrusted(trusted, peer)) return { address: peer || undefined, host, scheme: undefined }
  const scheme = nearest(c, "x-forwarded-proto")?.toLowerCase()
  return {
    address: addressOf(c, trusted, peer),
    host: nearest(c, "x-forwarded-host") || host,
    scheme: scheme === "http" || scheme === "https" ? scheme : undefined,
  }
}

/** What the proxy that speaks to us has said; what stands before it may be a stranger's. */
const nearest = (c: Context<Env>, name: string) => c.req.header(name)?.split(",").at(-1)?.trim()

/** Read from our end: what stands left of the first address that is not trusted was written by a stranger. */
function addressOf(c: Context<Env>, trusted: BlockList, peer: string): string {
  const hops = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => plainAddress(hop.trim()))
  let address = peer
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) return address
    address = hop
    if (!isTrusted(trusted, hop)) return address
  }
  return address
}

export function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const { address, bits } = toNetwork(network)
    list.addSubnet(address, bits, family(address))
  }
  return list
}

/** `10.0.0.0/8` as its parts; an address alone is a network of one. Throws what is neither. */
export function toNetwork(text: string): { address: string; bits: number } {
  const [, address = "", given] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const most = isIP(address) === 4 ? 32 : 128
  const bits = given === undefined ? most : Number(given)
  if (isIP(address) === 0 || bits > most) throw new Error(`${text} is neither an address nor a network`)
  return { address, bits }
}

export const isTrusted = (list: BlockList, address: string) =>
  isIP(address) !== 0 && list.check(address, family(address))

const family = (address: string) => (isIP(address) === 4 ? "ipv4" : "ipv6")

/** A server on both families sees IPv4 peers as `::ffff:1.2.3.4`. */
export const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")

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
export function toName(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1")
}

export function isLoopback(name: string): boolean {
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

/**
 * Where people reach this server: what its operator says, or the name that was asked for where that can only be this machine.
 * No slash at its end. Undefined where whoever asks has named another address: what is said of the server, and kept by a
 * program, would follow whatever somebody has written into a header.
 */
export function knownBase(c: Context<Env>, { publicUrl, host: listening }: ServerAddress): string | undefined {
  if (publicUrl) return publicUrl.replace(/\/$/, "")
  const { host, scheme = "http" } = c.get("source")
  const name = toName(host)
  const isOurs = name !== undefined && (isLoopback(name) || name === listening.toLowerCase() || isOfThisMachine(name))
  return isOurs ? `${scheme}://${host}` : undefined
}

/** The same where there is no way without it. Throws `public_url_needed`. */
export function publicBase(c: Context<Env>, address: ServerAddress): string {
  const base = knownBase(c, address)
  if (base === undefined) throw failure("public_url_needed", { host: c.get("source").host.slice(0, 200) })
  return base
}

const isOfThisMachine = (name: string) =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === name))

/** What a stranger is told at `/mcp`: where to learn how to sign in (RFC 9728). */
export function mcpChallenge(c: Context<Env>, address: ServerAddress): string {
  const base = knownBase(c, address)
  const metadata = base ? `, resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` : ""
  return `Bearer realm="pawl", scope="read chat"${metadata}`
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
/** What our own client and those of the dialects send. Not the page's half of a session: a session is for our own pages. */
const SENT = [
  ...["authorization", "content-type", "accept", "cache-control", "if-none-match", "last-event-id", "idempotency-key"],
  ...["x-file-name", "x-pawl-conversation", "x-pawl-writes", "x-request-id"],
  ...["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"],
]
/** Families of headers that official clients add to say which they are; a preflight has to name each. */
const SENT_BY_CLIENTS = /^(?:(?:x-stainless|openai)-[a-z-]{1,40}|user-agent)$/
/** What a page may read of an answer beside its body. */
const SHOWN = [
  ...["content-disposition", "etag", "location", "mcp-protocol-version", "mcp-session-id", "retry-after"],
  ...["www-authenticate", "x-pawl-conversation", "x-pawl-ignored", "x-request-id", "x-should-retry"],
  "x-vercel-ai-ui-message-stream",
].join(", ")
/** How long a browser need not ask again; Chromium believes nothing longer. */
const PREFLIGHT_SECONDS = "7200"

/**
 * Lets pages of the operator's other origins (`PAWL_ALLOWED_ORIGINS`) read what they ask for with a token. There is no
 * `Access-Control-Allow-Credentials`: a browser sends no cookie of ours with such a request, and a session counts for no page
 * but ours. Nobody is answered with `*`, so who is not listed learns nothing.
 */
export function answerOrigins({ allowedOrigins = [] }: ServerAddress): MiddlewareHandler<Env> {
  const allowed = new Set(allowedOrigins)
  return async (c, next) => {
    if (allowed.size === 0) return next()
    const origin = c.req.header("origin")
    const listed = origin !== undefined && allowed.has(origin) ? origin : undefined
    if (listed !== undefined && isPreflight(c)) return preflight(c, listed)
    await next()
    const { headers } = c.res
    // Also where none was sent: what a cache keeps of it must not be given to who sends one.
    headers.append("vary", "Origin")
    if (listed === undefined) return
    headers.set("access-control-allow-origin", listed)
    headers.set("access-control-expose-headers", SHOWN)
  }
}

const isPreflight = (c: Context<Env>) =>
  c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined

/** Before anybody is asked who they are: a browser sends no token with it. Whether the address exists, the request itself learns. */
function preflight(c: Context<Env>, origin: string): Response {
  const asked = (c.req.header("access-control-request-headers") ?? "").toLowerCase().split(",")
  const known = asked.map((name) => name.trim()).filter((name) => SENT_BY_CLIENTS.test(name))
  return c.body(null, 204, {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": [...SENT, ...known].join(", "),
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin, Access-Control-Request-Headers",
  })
}

const POLICY = "content-security-policy"
const FRAMES = "x-frame-options"
/** Data is no page: whatever a browser is made to take it for, nothing in it runs, loads or is framed. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  [FRAMES]: "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
})

/** Headers that every answer has, refusals too. A page brings a policy of its own, which then counts, and may be in a frame. */
export function secureHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    for (const [name, value] of HEADERS) if (name !== FRAMES || !headers.has(FRAMES)) headers.set(name, value)
    if (!headers.has(POLICY)) headers.set(POLICY, NOTHING)
  }
}
