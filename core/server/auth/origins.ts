import { BlockList, isIP } from "node:net"
import type { Context, MiddlewareHandler } from "hono"
import type { RequestSource, Env, ServerAddress } from "./credentials.ts"
import { failure } from "../../protocol/errors.ts"
import { networkInterfaces } from "node:os"

/**
 * Determines a request's address, host and scheme. Anyone can write a header, so `X-Forwarded-*` counts only if the peer
 * is a trusted proxy.
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
  const scheme = lastHop(c, "x-forwarded-proto")?.toLowerCase()
  return {
    address: addressOf(c, trusted, peer),
    host: lastHop(c, "x-forwarded-host") || host,
    scheme: scheme === "http" || scheme === "https" ? scheme : undefined,
  }
}

/** The value that our own proxy appended; earlier values may be forged. */
const lastHop = (c: Context<Env>, name: string) => c.req.header(name)?.split(",").at(-1)?.trim()

/** Walks from our end. Everything left of the first untrusted address may be forged. */
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

/** Splits `10.0.0.0/8`; an address alone is a network of one. Throws if it is neither. */
export function toNetwork(text: string): { address: string; bits: number } {
  const [, address = "", written] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const most = isIP(address) === 4 ? 32 : 128
  const bits = written === undefined ? most : Number(written)
  if (isIP(address) === 0 || bits > most) throw new Error(`${text} is neither an address nor a network`)
  return { address, bits }
}

export const isTrusted = (list: BlockList, address: string) =>
  isIP(address) !== 0 && list.check(address, family(address))

const family = (address: string) => (isIP(address) === 4 ? "ipv4" : "ipv6")

/** A dual-stack server sees IPv4 peers as `::ffff:1.2.3.4`. */
export const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")

const UNSAFE = new Set(["POST", "PUT", "PATCH", "DELETE"])
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"])

/**
 * Refuses requests that a web page tricked a browser into sending. A page can point a domain of its own at
 * this machine, but then the Host header names that domain; and it cannot hide its Origin when it changes something or
 * opens a socket.
 */
export function checkHostAndOrigin({ host, publicUrl, allowedOrigins = [] }: ServerAddress): MiddlewareHandler<Env> {
  const published = publicUrl ? new URL(publicUrl) : undefined
  const names = new Set([host.toLowerCase(), ...(published ? [published.hostname.toLowerCase()] : [])])
  // A domain can be made to resolve to this machine; a literal address cannot. So a server on all addresses accepts any
  // literal address.
  const anyAddress = EVERY_ADDRESS.has(host)
  const isOurs = (name: string) => isLoopback(name) || names.has(name) || (anyAddress && isIP(name) !== 0)
  const origins = new Set(allowedOrigins)

  return async (c, next) => {
    const { host: requestedHost, scheme } = c.get("source")
    const name = toName(requestedHost)
    if (name === undefined || !isOurs(name)) throw failure("wrong_host", { host: requestedHost.slice(0, 200) })
    const origin = c.req.header("origin")
    const asks = UNSAFE.has(c.req.method) || isUpgrade(c)
    if (
      origin !== undefined &&
      asks &&
      !origins.has(origin) &&
      !isSameOrigin(origin, { requestedHost, scheme, published })
    ) {
      throw failure("wrong_origin", { origin: origin.slice(0, 200) })
    }
    await next()
  }
}

/**
 * Refuses a cookie that a page of another site made the browser send. Checked only for cookies, which browsers add by
 * themselves; a token must be known to be sent.
 */
export function refuseCrossSite(c: Context<Env>, { allowedOrigins = [] }: ServerAddress): void {
  const site = c.req.header("sec-fetch-site")
  const origin = c.req.header("origin")
  // The operator's other origins use tokens: sessions are for the pages of this server.
  if (origin !== undefined && allowedOrigins.includes(origin)) throw failure("cross_site")
  if (UNSAFE.has(c.req.method)) {
    // The origin was already checked to be ours. If the browser sends both headers, `same-origin` also covers the scheme.
    const fine = site === undefined ? origin !== undefined : site === "same-origin"
    if (!fine) throw failure("cross_site")
    return
  }
  // Browsers send this header to every https and loopback address. Without it the caller is a program or an old browser,
  // and there SameSite=Strict withholds the cookie from requests of other sites.
  if (site === undefined || site === "same-origin" || site === "none") return
  throw failure("cross_site")
}

export const isUpgrade = (c: Context): boolean => c.req.header("upgrade")?.toLowerCase() === "websocket"

/** The host name in `name:port`, without the brackets of an IPv6 address. */
export function toName(host: string): string | undefined {
  return URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, "$1")
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

interface RequestTarget {
  readonly requestedHost: string
  readonly scheme: string | undefined
  readonly published: URL | undefined
}

/**
 * Whether a page is ours: same host and port as requested, and our scheme if we know it. Otherwise an attacker on the
 * network could use the plain http page to drive the https one.
 */
function isSameOrigin(origin: string, { requestedHost, scheme, published }: RequestTarget): boolean {
  const at = URL.parse(`${scheme ?? "http"}://${requestedHost}`)
  if (published && URL.parse(`${published.protocol}//${requestedHost}`)?.host === published.host)
    return origin === published.origin
  return scheme === undefined ? URL.parse(origin)?.host === at?.host : origin === at?.origin
}

/**
 * The server's base URL without a final slash: the configured one, or the requested host if that can only be this
 * machine. Otherwise undefined, because a forged Host header would end up in URLs that programs store.
 */
export function findBaseUrl(c: Context<Env>, { publicUrl, host: listening }: ServerAddress): string | undefined {
  if (publicUrl) return publicUrl.replace(/\/$/, "")
  const { host, scheme = "http" } = c.get("source")
  const name = toName(host)
  const isOurs = name !== undefined && (isLoopback(name) || name === listening.toLowerCase() || isOfThisMachine(name))
  return isOurs ? `${scheme}://${host}` : undefined
}

/** The same. Throws `public_url_needed` if it is not known. */
export function requireBaseUrl(c: Context<Env>, address: ServerAddress): string {
  const base = findBaseUrl(c, address)
  if (base === undefined) throw failure("public_url_needed", { host: c.get("source").host.slice(0, 200) })
  return base
}

const isOfThisMachine = (name: string) =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === name))

/** The `WWW-Authenticate` header at `/mcp`: where a client learns how to sign in (RFC 9728). */
export function mcpChallenge(c: Context<Env>, address: ServerAddress): string {
  const base = findBaseUrl(c, address)
  const metadata = base ? `, resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` : ""
  return `Bearer realm="pawl", scope="read chat"${metadata}`
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
/**
 * Headers that our client and clients of the adapters send. `x-pawl-session` is missing on purpose: sessions are for our
 * own pages.
 */
const REQUEST_HEADERS = [
  ...["authorization", "content-type", "accept", "cache-control", "if-none-match", "last-event-id", "idempotency-key"],
  ...["x-file-name", "x-pawl-conversation", "x-pawl-writes", "x-request-id"],
  ...["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"],
]
/** Families of headers by which official clients identify themselves; a preflight must name each. */
const CLIENT_HEADERS = /^(?:(?:x-stainless|openai)-[a-z-]{1,40}|user-agent)$/
/** Response headers that a page may read. */
const RESPONSE_HEADERS = [
  ...["content-disposition", "etag", "location", "mcp-protocol-version", "mcp-session-id", "retry-after"],
  ...["www-authenticate", "x-pawl-conversation", "x-pawl-ignored", "x-request-id", "x-should-retry"],
  "x-vercel-ai-ui-message-stream",
].join(", ")
/** How long a browser may cache a preflight; Chromium's maximum. */
const PREFLIGHT_SECONDS = "7200"

/**
 * Lets pages of `PAWL_ALLOWED_ORIGINS` read answers to requests with a token. `Access-Control-Allow-Credentials` is never
 * sent, so browsers send no cookie with such requests. Never answers `*`, so other origins learn nothing.
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
    // Also for requests without an Origin: a cache must not serve their answer to a request with one.
    headers.append("vary", "Origin")
    if (listed === undefined) return
    headers.set("access-control-allow-origin", listed)
    headers.set("access-control-expose-headers", RESPONSE_HEADERS)
  }
}

const isPreflight = (c: Context<Env>) =>
  c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined

/**
 * Answered before authentication: browsers send no token with a preflight. It does not reveal whether the address exists.
 */
function preflight(c: Context<Env>, origin: string): Response {
  const names = (c.req.header("access-control-request-headers") ?? "").toLowerCase().split(",")
  const known = names.map((name) => name.trim()).filter((name) => CLIENT_HEADERS.test(name))
  return c.body(null, 204, {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": [...REQUEST_HEADERS, ...known].join(", "),
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin, Access-Control-Request-Headers",
  })
}

const POLICY = "content-security-policy"
const FRAMES = "x-frame-options"
/** For answers that are not pages: even if a browser renders one, nothing in it runs, loads or is framed. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  [FRAMES]: "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
})

/**
 * Headers of every answer, including errors. A page sets its own policy and frame options, which then take precedence.
 */
export function secureHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    for (const [name, value] of HEADERS) if (name !== FRAMES || !headers.has(FRAMES)) headers.set(name, value)
    if (!headers.has(POLICY)) headers.set(POLICY, NOTHING)
  }
}
