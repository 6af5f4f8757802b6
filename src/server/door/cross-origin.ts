import type { Context, MiddlewareHandler } from "hono"
import type { ServerAddress } from "./ports.ts"
import type { Env } from "./request-env.ts"

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
