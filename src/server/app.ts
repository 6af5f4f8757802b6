import { againRoutes } from "./again.ts"
import { type Context, Hono } from "hono"
import { AppError, failure, toProblem } from "../protocol/errors.ts"
import { agentRoutes } from "./agents.ts"
import { auditRoutes } from "./audit.ts"
import { seeArrival } from "./arrival.ts"
import { type Env, identify } from "./caller.ts"
import { collectionRoutes } from "./collections.ts"
import { connectionRoutes } from "./connections.ts"
import { conversationRoutes } from "./conversations.ts"
import { watchDoors } from "./doors.ts"
import { eventRoutes } from "./events.ts"
import { deviceRoutes } from "./device-routes.ts"
import { grantRoutes } from "./grants.ts"
import { healthRoutes } from "./health.ts"
import { messageRoutes } from "./messages.ts"
import { metricsRoute } from "./metrics-route.ts"
import { modelRoutes } from "./models.ts"
import { createPage, pageRoutes } from "./page.ts"
import type { ServerPorts } from "./ports.ts"
import { proposalRoutes } from "./proposals.ts"
import { resultRoutes } from "./results.ts"
import { retentionRoutes } from "./retention.ts"
import { referenceRoutes } from "./reference.ts"
import { createRateLimits, type RateLimits } from "./rate-limits.ts"
import { runRoutes } from "./runs.ts"
import { secureHeaders } from "./secure-headers.ts"
import { shortcutRoutes } from "./shortcuts.ts"
import { watchRequests } from "./watch-requests.ts"
import { queueRoutes } from "./queue.ts"
import { undoRoutes } from "./undo.ts"
import { providerRoutes } from "./providers.ts"
import { usageRoutes } from "./usage.ts"
import { socketRoute } from "./socket.ts"
import { sessionRoutes, signInRoutes } from "./sign-in.ts"
import { serveThreadPaths, type ThreadPaths } from "./thread-paths.ts"
import { threadRoutes } from "./threads.ts"
import { tokenRoutes } from "./tokens.ts"
import { workspaceRoutes } from "./workspace.ts"
import { vectorRoutes } from "./vectors.ts"

const faces: readonly ((app: Hono<Env>, ports: ServerPorts, limits: RateLimits) => void)[] = [
  conversationRoutes,
  messageRoutes,
  runRoutes,
  eventRoutes,
  socketRoute,
  deviceRoutes,
  queueRoutes,
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
  resultRoutes,
  threadRoutes,
  usageRoutes,
  retentionRoutes,
  sessionRoutes,
  tokenRoutes,
  workspaceRoutes,
  vectorRoutes,
]

/** The server as a function of a request: no port, no process. Here, and only here, errors become status codes. */
export function createApp(ports: ServerPorts & ThreadPaths): Hono<Env> {
  const app = new Hono<Env>()
  const { log, clock } = ports.runtime.ports
  const openPage = createPage(ports)
  const limits = createRateLimits(ports.requestsPerMinute ?? 0, clock)

  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log.error("request_failed", { method: c.req.method, route: c.get("route"), requestId: c.get("requestId"), error })
    return problem(c, error)
  })
  app.notFound((c) => openPage(c) ?? problem(c, failure("not_found")))
  if (ports.threadPaths) serveThreadPaths(app)
  app.use(watchRequests(ports.metrics, log), secureHeaders(), seeArrival(ports.doors), watchDoors(ports.doors))

  healthRoutes(app, ports)
  metricsRoute(app, ports, limits)
  referenceRoutes(app, ports)
  pageRoutes(app, ports)
  app.use("/api/*", async (c, next) => {
    // What is read here is somebody's own, and another moment's answer is a wrong one. Set before there is an answer:
    // a header that is added to one makes it a copy, sent piece by piece.
    c.header("cache-control", "no-store")
    await next()
  })
  signInRoutes(app, ports, limits)
  app.use("/api/*", identify(ports, limits))
  for (const serve of faces) serve(app, ports, limits)
  return app
}

/** A database or a server that was restarted is back by then, more often than not. */
const RETRY_SECONDS = "2"
const PASSING = new Set(["store_unavailable", "draining"])

/** Problem JSON after RFC 9457; a conflict about a proposal carries it, so that the loser of a race sees how it ended. */
function problem(c: Context<Env>, error: unknown): Response {
  const body = toProblem(error)
  const { proposal } = error instanceof AppError ? error.details : {}
  const headers: Record<string, string> = { "content-type": "application/problem+json" }
  if (body.status === 401) headers["www-authenticate"] = 'Bearer realm="pawl"'
  if (error instanceof AppError && error.code === "too_many_requests")
    headers["retry-after"] = String(error.details.seconds)
  if (PASSING.has(body.code)) headers["retry-after"] = RETRY_SECONDS
  return c.newResponse(JSON.stringify(proposal ? { ...body, proposal } : body), body.status as 400, headers)
}
