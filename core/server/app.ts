import {
  repeatRoutes,
  auditRoutes,
  grantRoutes,
  proposalRoutes,
  shortcutRoutes,
  undoRoutes,
} from "./routes/proposals.ts"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { AppError, failure, type Problem, toProblem } from "../protocol/errors.ts"
import { agentRoutes, modelRoutes, providerRoutes, usageRoutes, type ModelRoutePorts } from "./routes/models.ts"
import { readRequestSource, answerOrigins, checkHostAndOrigin, secureHeaders } from "./auth/origins.ts"
import { identify } from "./auth/caller.ts"
import type { Env, AuthPorts } from "./auth/credentials.ts"
import { collectionRoutes, vectorRoutes } from "./routes/collections.ts"
import { connectionRoutes } from "./routes/connections.ts"
import { conversationRoutes, eventRoutes } from "./routes/conversations.ts"
import { deviceRoutes, sessionRoutes, signInRoutes, tokenRoutes } from "./routes/account/sign-in.ts"
import { fileRoutes, resultRoutes } from "./routes/files.ts"
import { healthRoutes, metricsRoute, type HealthPorts, type NodeWork } from "./routes/operations.ts"
import { messageRoutes, questionRoutes, queueRoutes } from "./routes/messages.ts"
import { oidcRoutes } from "./routes/account/oidc/oidc.ts"
import { consentRoutes, oauthRoutes } from "./routes/account/oauth/oauth.ts"
import { createPage, pageRoutes, type PagePorts } from "./routes/page.ts"
import { type PackRoutes, servePackRoutes } from "./routes/packs.ts"
import { retentionRoutes } from "./routes/account/retention.ts"
import { docsRoutes } from "./routes/docs.ts"
import { createRateLimits, type RateLimits, UnreadResponses } from "./auth/rate-limits.ts"
import { runRoutes, sharedRunRoutes } from "./routes/runs.ts"
import { mcpServerRoutes, mcpSignInRoutes, type McpServerRoutePorts } from "./routes/mcp-servers.ts"
import { socketRoute } from "./socket/socket.ts"
import { workspaceRoutes } from "./routes/workspace.ts"
import { randomUUID } from "node:crypto"
import type { Log } from "../shared/log.ts"
import type { ServerMetrics } from "./metrics/server-metrics.ts"
import { FairTurns } from "../shared/concurrency/fair-queue.ts"
import type { MessageFiles } from "../engine/stored-files.ts"
import type { OidcPorts } from "./routes/account/ports.ts"
import type { ConversationRoutePorts } from "./conversation/ports.ts"
import type { Databases, DataPorts, Workspaces } from "./routes/stored-data.ts"
import type { Devices } from "./socket/devices.ts"
import type { SocketPorts } from "./socket/chat-conversation.ts"

/** Everything the server needs, passed in by `core/compose`. Each folder of the server names the subset that it uses. */
export interface ServerPorts
  extends
    AuthPorts,
    SocketPorts,
    ConversationRoutePorts,
    ModelRoutePorts,
    McpServerRoutePorts,
    OidcPorts,
    DataPorts,
    HealthPorts,
    PagePorts {
  // Subsets of these are in the interfaces above; these are the full types that satisfy them all.
  readonly databases: Databases
  readonly devices: Devices
  readonly workspaces: Workspaces
  readonly messageFiles: MessageFiles
  nodeWork(): NodeWork
  /** The version of this program, for the API reference. */
  readonly version: string
}

/** Serves another wire format over the same conversations. It is written against `core/adapter.ts`. */
export interface Adapter {
  /** The paths of its routes, which all need a caller: `/mcp`, or `/v1/*` with all that is under it. */
  readonly paths: readonly string[]
  serve(app: Hono<Env>, ports: ServerPorts): void
  /** The body of an error, if its clients do not expect problem JSON. */
  toError?(problem: Problem): Promise<object>
  /** The header `WWW-Authenticate` of a 401. Default: `Bearer`. */
  challenge?(c: Context<Env>, ports: Pick<ServerPorts, "address">): string
  /** Adds paths that stand for other paths of this server, before all middleware, so that each request passes it once. */
  forward?(app: Hono<Env>, ports: ForwardedPaths): void
}

interface ForwardedPaths {
  /** Whether the thread API also answers under `/chat`, and connections under `/connections`. */
  readonly threadPaths?: boolean
}

interface AppPorts extends ServerPorts, PackRoutes, ForwardedPaths {
  readonly adapters?: readonly Adapter[]
}

const routeGroups: readonly ((app: Hono<Env>, ports: ServerPorts, limits: RateLimits) => void)[] = [
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
  repeatRoutes,
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

/** The server as a function of a request: no port, no process. Only this file turns errors into status codes. */
export function createApp(ports: AppPorts): Hono<Env> {
  const app = new Hono<Env>()
  const { log, clock, adapters = [] } = ports
  const identifiedPaths = ["/api/*", ...adapters.flatMap(({ paths }) => paths)]
  const openPage = createPage(ports)
  const limits = ports.limits ?? createRateLimits(ports.requestsPerMinute ?? 0, clock)
  const identified = identify({ ...ports, unread: ports.unread ?? new UnreadResponses() }, limits)

  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log.error("request_failed", { method: c.req.method, route: c.get("route"), requestId: c.get("requestId"), error })
    return problem(c, error, ports)
  })
  app.notFound((c) => openPage(c) ?? problem(c, failure("not_found"), ports))
  for (const adapter of adapters) adapter.forward?.(app, ports)
  app.use(
    logRequests(ports.metrics, log),
    secureHeaders(),
    readRequestSource(ports.address),
    checkHostAndOrigin(ports.address),
    answerOrigins(ports.address),
  )

  healthRoutes(app, ports)
  // After the health routes: a probe must not wait behind other requests.
  app.use(takeTurnsByAddress())
  metricsRoute(app, ports, limits)
  docsRoutes(app, ports)
  pageRoutes(app, ports)
  for (const path of identifiedPaths) app.use(path, noStore)
  signInRoutes(app, ports, limits)
  oidcRoutes(app, ports, limits)
  oauthRoutes(app, ports, limits)
  mcpSignInRoutes(app, ports)
  for (const path of identifiedPaths) app.use(path, identified)
  for (const serve of routeGroups) serve(app, ports, limits)
  for (const adapter of adapters) adapter.serve(app, ports)
  servePackRoutes(app, ports)
  return app
}

const noStore: MiddlewareHandler<Env> = async (c, next) => {
  // The answer is one person's data and changes at any time. Set before there is an answer: adding a header later makes
  // Hono copy the response and send it in chunks.
  c.header("cache-control", "no-store")
  await next()
}

/** By then a restarted database or server usually answers again. */
const RETRY_SECONDS = "2"
const TRANSIENT = new Set(["store_unavailable", "draining"])
/** Codes whose details contain the number of seconds. */
const WITH_SECONDS = new Set<string>(["too_many_requests", "too_much_unread", "too_many_uploads", "uploads_full"])

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
  if (error instanceof AppError && WITH_SECONDS.has(error.code)) headers["retry-after"] = String(error.details.seconds)
  if (TRANSIENT.has(body.code)) headers["retry-after"] = RETRY_SECONDS
  const sent = (await adapter?.toError?.(body)) ?? body
  return c.newResponse(JSON.stringify(proposal ? { ...sent, proposal } : sent), body.status as 400, headers)
}

const isUnder = (path: string, pattern: string): boolean =>
  pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
/** Polled every few seconds by monitoring: logged only if they fail. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"])

/** Gives every request an id, and counts and logs its outcome by route template, never by address. */
function logRequests(metrics: ServerMetrics, log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const began = performance.now()
    const claimedId = c.req.header("x-request-id") ?? ""
    const requestId = /^[\w.-]{8,64}$/.test(claimedId) ? claimedId : randomUUID()
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
 * Spreads requests over turns of the event loop, per address and before authentication: refusing thousands of requests
 * that arrive at once also takes time.
 */
function takeTurnsByAddress(): MiddlewareHandler<Env> {
  const turns = new FairTurns()
  return async (c, next) => {
    const turn = turns.enter(c.get("source").address ?? "")
    if (turn) await turn
    await next()
  }
}
