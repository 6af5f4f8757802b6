import {
  againRoutes,
  auditRoutes,
  grantRoutes,
  proposalRoutes,
  shortcutRoutes,
  undoRoutes,
} from "./routes/proposals.ts"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { AppError, failure, type Problem, toProblem } from "../protocol/errors.ts"
import { agentRoutes, modelRoutes, providerRoutes, usageRoutes } from "./routes/models.ts"
import { readRequestSource, answerOrigins, checkHostAndOrigin, secureHeaders } from "./auth/origins.ts"
import { identify } from "./auth/caller.ts"
import type { Env } from "./auth/credentials.ts"
import { collectionRoutes, vectorRoutes } from "./routes/collections.ts"
import { connectionRoutes } from "./routes/connections.ts"
import { conversationRoutes, eventRoutes } from "./routes/conversations.ts"
import { deviceRoutes, sessionRoutes, signInRoutes, tokenRoutes } from "./routes/account/sign-in.ts"
import { fileRoutes, resultRoutes } from "./routes/files.ts"
import { healthRoutes, metricsRoute } from "./routes/operations.ts"
import { messageRoutes, questionRoutes, queueRoutes } from "./routes/messages.ts"
import { oidcRoutes } from "./routes/account/oidc/oidc.ts"
import { consentRoutes, oauthRoutes } from "./routes/account/oauth/oauth.ts"
import { createPage, pageRoutes } from "./routes/page.ts"
import { type PackRoutes, servePackRoutes } from "./routes/packs.ts"
import type { ServerPorts } from "./ports.ts"
import { retentionRoutes } from "./routes/account/retention.ts"
import { docsRoutes } from "./routes/docs.ts"
import { createRateLimits, type RateLimits, UnreadAnswers } from "./auth/rate-limits.ts"
import { runRoutes, sharedRunRoutes } from "./routes/runs.ts"
import { mcpServerRoutes, mcpSignInRoutes } from "./routes/mcp-servers.ts"
import { socketRoute } from "./socket/socket.ts"
import { workspaceRoutes } from "./routes/workspace.ts"
import { randomUUID } from "node:crypto"
import type { Log } from "../shared/log.ts"
import type { ServerMetrics } from "./metrics/server-metrics.ts"
import { FairTurns } from "../shared/concurrency/fair-queue.ts"

/** Serves another wire format over the same conversations. It is written against `core/adapter.ts`. */
export interface Adapter {
  /** The paths of its routes, each of which needs a caller: `/mcp`, or `/v1/*` with all that is under it. */
  readonly paths: readonly string[]
  /** Adds its routes. */
  serve(app: Hono<Env>, ports: ServerPorts): void
  /** The body of an error, if its clients do not expect problem JSON. */
  toError?(problem: Problem): Promise<object>
  /** The header `WWW-Authenticate` of a 401. Default: `Bearer`. */
  challenge?(c: Context<Env>, ports: Pick<ServerPorts, "address">): string
  /** Adds paths that stand for other paths of this server, before all middleware, so that each request passes it once. */
  forward?(app: Hono<Env>, ports: ForwardedPaths): void
}

export interface ForwardedPaths {
  /** Whether the thread API also answers under `/chat`, and connections under `/connections`. */
  readonly threadPaths?: boolean
}

export interface AppPorts extends ServerPorts, PackRoutes, ForwardedPaths {
  readonly adapters?: readonly Adapter[]
}

const faces: readonly ((app: Hono<Env>, ports: ServerPorts, limits: RateLimits) => void)[] = [
  conversationRoutes,
  messageRoutes,
  runRoutes,
  sharedRunRoutes,
  eventRoutes,
  socketRoute,
  deviceRoutes,
  queueRoutes,
  questionRoutes,
  proposalRoutes,
  shortcutRoutes,
  auditRoutes,
  undoRoutes,
  againRoutes,
  grantRoutes,
  modelRoutes,
  agentRoutes,
  providerRoutes,
  connectionRoutes,
  collectionRoutes,
  fileRoutes,
  resultRoutes,
  mcpServerRoutes,
  usageRoutes,
  retentionRoutes,
  sessionRoutes,
  tokenRoutes,
  consentRoutes,
  workspaceRoutes,
  vectorRoutes,
]

/** The server as a function of a request: no port, no process. Here, and only here, errors become status codes. */
export function createApp(ports: AppPorts): Hono<Env> {
  const app = new Hono<Env>()
  const { log, clock, adapters = [] } = ports
  const identifiedPaths = ["/api/*", ...adapters.flatMap(({ paths }) => paths)]
  const openPage = createPage(ports)
  const limits = ports.limits ?? createRateLimits(ports.requestsPerMinute ?? 0, clock)
  const identified = identify({ ...ports, unread: ports.unread ?? new UnreadAnswers() }, limits)

  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log.error("request_failed", { method: c.req.method, route: c.get("route"), requestId: c.get("requestId"), error })
    return problem(c, error, ports)
  })
  app.notFound((c) => openPage(c) ?? problem(c, failure("not_found"), ports))
  for (const adapter of adapters) adapter.forward?.(app, ports)
  app.use(
    watchRequests(ports.metrics, log),
    secureHeaders(),
    readRequestSource(ports.address),
    checkHostAndOrigin(ports.address),
    answerOrigins(ports.address),
  )

  healthRoutes(app, ports)
  // Behind those who ask whether the server is alive: they wait for nobody.
  app.use(beginInTurns())
  metricsRoute(app, ports, limits)
  docsRoutes(app, ports)
  pageRoutes(app, ports)
  for (const path of identifiedPaths) app.use(path, keepsNothing)
  signInRoutes(app, ports, limits)
  oidcRoutes(app, ports, limits)
  oauthRoutes(app, ports, limits)
  mcpSignInRoutes(app, ports)
  for (const path of identifiedPaths) app.use(path, identified)
  for (const serve of faces) serve(app, ports, limits)
  for (const adapter of adapters) adapter.serve(app, ports)
  servePackRoutes(app, ports)
  return app
}

const keepsNothing: MiddlewareHandler<Env> = async (c, next) => {
  // What is read here is somebody's own, and another moment's answer is a wrong one. Set before there is an answer:
  // a header that is added to one makes it a copy, sent piece by piece.
  c.header("cache-control", "no-store")
  await next()
}

/** A database or a server that was restarted is back by then, more often than not. */
const RETRY_SECONDS = "2"
const PASSING = new Set(["store_unavailable", "draining"])
/** Those that say themselves in how many seconds. */
const LATER = new Set<string>(["too_many_requests", "too_much_unread", "too_many_uploads", "uploads_full"])

/**
 * Problem JSON after RFC 9457, or the error format of the adapter that owns the path. A conflict about a proposal carries
 * the proposal, so that the client that lost a race sees the outcome.
 */
async function problem(c: Context<Env>, error: unknown, ports: AppPorts): Promise<Response> {
  const body = toProblem(error)
  const { proposal } = error instanceof AppError ? error.details : {}
  const adapter = ports.adapters?.find(({ paths }) => paths.some((path) => isUnder(c.req.path, path)))
  const headers: Record<string, string> = {
    "content-type": adapter?.toError ? "application/json" : "application/problem+json",
  }
  if (body.status === 401) headers["www-authenticate"] = adapter?.challenge?.(c, ports) ?? 'Bearer realm="pawl"'
  if (error instanceof AppError && LATER.has(error.code)) headers["retry-after"] = String(error.details.seconds)
  if (PASSING.has(body.code)) headers["retry-after"] = RETRY_SECONDS
  const sent = (await adapter?.toError?.(body)) ?? body
  return c.newResponse(JSON.stringify(proposal ? { ...sent, proposal } : sent), body.status as 400, headers)
}

const isUnder = (path: string, pattern: string): boolean =>
  pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
/** Asked every few seconds by whoever looks after the server: worth a line only when they fail. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"])

/** Gives every request an id, and counts and logs how it ended: by the template of its route, never by its address. */
export function watchRequests(metrics: ServerMetrics, log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const began = performance.now()
    const given = c.req.header("x-request-id") ?? ""
    const requestId = /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
    c.set("requestId", requestId)
    c.header("x-request-id", requestId)
    await next()
    const ms = performance.now() - began
    const { status } = c.res
    const route = c.get("route") ?? "unmatched"
    const method = METHODS.has(c.req.method) ? c.req.method : "other"
    metrics.requests.add(1, { method, route, status })
    metrics.requestSeconds.observe(ms / 1000, { method, route })
    if (PROBES.has(route) && status < 500) return
    const person = c.get("caller")?.person.id
    log.info("request", { method, route, status, ms: Math.round(ms), ...(person ? { person } : {}), requestId })
  }
}

/**
 * Before it is known who asks: thousands of connections over which nobody has been known yet may ask in one moment, and every
 * refusal takes its time, too.
 */
export function beginInTurns(): MiddlewareHandler<Env> {
  const turns = new FairTurns()
  return async (c, next) => {
    const turn = turns.enter(c.get("source").address ?? "")
    if (turn) await turn
    await next()
  }
}
