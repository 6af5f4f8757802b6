import { againRoutes } from "./routes/proposals/propose-again.ts"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { AppError, failure, toProblem } from "../protocol/errors.ts"
import { agUiRoutes } from "./routes/ag-ui/ag-ui.ts"
import { aiSdkRoutes } from "./routes/ai-sdk/ai-sdk.ts"
import { agentRoutes } from "./routes/models/agents.ts"
import { auditRoutes } from "./routes/proposals/audit.ts"
import { readRequestSource } from "./door/trusted-proxies.ts"
import { identify } from "./door/caller.ts"
import type { Env } from "./door/request-env.ts"
import { collectionRoutes } from "./routes/data/collections.ts"
import { connectionRoutes } from "./routes/data/connections.ts"
import { conversationRoutes } from "./routes/conversations/conversations.ts"
import { answerOrigins } from "./door/cross-origin.ts"
import { checkHostAndOrigin } from "./door/host-and-origin.ts"
import { eventRoutes } from "./routes/conversations/events.ts"
import { deviceRoutes } from "./routes/account/devices.ts"
import { fileRoutes } from "./routes/data/files.ts"
import { grantRoutes } from "./routes/proposals/grants.ts"
import { healthRoutes } from "./routes/operations/health.ts"
import { messageRoutes } from "./routes/conversations/messages.ts"
import { metricsRoute } from "./routes/operations/metrics.ts"
import { modelRoutes } from "./routes/models/models.ts"
import { oidcRoutes } from "./routes/account/oidc/oidc.ts"
import { consentRoutes, oauthRoutes } from "./routes/account/oauth/oauth.ts"
import { mcpRoutes } from "./routes/mcp/mcp.ts"
import { openAiRoutes } from "./routes/openai/openai.ts"
import { createPage, pageRoutes } from "./routes/pages/page.ts"
import { type PackRoutes, servePackRoutes } from "./routes/packs/packs.ts"
import type { ServerPorts } from "./ports.ts"
import { proposalRoutes } from "./routes/proposals/proposals.ts"
import { resultRoutes } from "./routes/data/query-results.ts"
import { retentionRoutes } from "./routes/account/retention.ts"
import { referenceRoutes } from "./routes/pages/reference.ts"
import { createRateLimits, type RateLimits } from "./door/rate-limits.ts"
import { UnreadAnswers } from "./door/unread-answers.ts"
import { runRoutes } from "./routes/conversations/runs.ts"
import { sharedRunRoutes } from "./routes/conversations/shared-runs.ts"
import { mcpChallenge } from "./door/public-base.ts"
import { secureHeaders } from "./door/secure-headers.ts"
import { shortcutRoutes } from "./routes/proposals/decide-all.ts"
import { beginInTurns } from "./door/request-turns.ts"
import { watchRequests } from "./door/log-requests.ts"
import { questionRoutes } from "./routes/conversations/questions.ts"
import { queueRoutes } from "./routes/conversations/queue.ts"
import { undoRoutes } from "./routes/proposals/undo.ts"
import { mcpServerRoutes, mcpSignInRoutes } from "./routes/mcp-servers/mcp-servers.ts"
import { providerRoutes } from "./routes/models/providers.ts"
import { usageRoutes } from "./routes/models/usage.ts"
import { socketRoute } from "./socket/socket.ts"
import { sessionRoutes, signInRoutes } from "./routes/account/sign-in.ts"
import { serveThreadPaths, type ThreadPaths } from "./routes/threads/chat-paths.ts"
import { threadRoutes } from "./routes/threads/threads.ts"
import { tokenRoutes } from "./routes/account/tokens.ts"
import { workspaceRoutes } from "./routes/data/workspace.ts"
import { vectorRoutes } from "./routes/data/embeddings.ts"

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
  threadRoutes,
  openAiRoutes,
  agUiRoutes,
  mcpRoutes,
  mcpServerRoutes,
  aiSdkRoutes,
  usageRoutes,
  retentionRoutes,
  sessionRoutes,
  tokenRoutes,
  consentRoutes,
  workspaceRoutes,
  vectorRoutes,
]

/** The server as a function of a request: no port, no process. Here, and only here, errors become status codes. */
export function createApp(ports: ServerPorts & ThreadPaths & PackRoutes): Hono<Env> {
  const app = new Hono<Env>()
  const { log, clock } = ports
  const openPage = createPage(ports)
  const limits = ports.limits ?? createRateLimits(ports.requestsPerMinute ?? 0, clock)
  const identified = identify({ ...ports, unread: ports.unread ?? new UnreadAnswers() }, limits)

  app.onError((error, c) => {
    if (!(error instanceof AppError))
      log.error("request_failed", { method: c.req.method, route: c.get("route"), requestId: c.get("requestId"), error })
    return problem(c, error, ports)
  })
  app.notFound((c) => openPage(c) ?? problem(c, failure("not_found"), ports))
  if (ports.threadPaths) serveThreadPaths(app)
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
  referenceRoutes(app, ports)
  pageRoutes(app, ports)
  for (const path of BEHIND_THE_DOOR) app.use(path, keepsNothing)
  signInRoutes(app, ports, limits)
  oidcRoutes(app, ports, limits)
  oauthRoutes(app, ports, limits)
  mcpSignInRoutes(app, ports)
  for (const path of BEHIND_THE_DOOR) app.use(path, identified)
  for (const serve of faces) serve(app, ports, limits)
  servePackRoutes(app, ports)
  return app
}

/** Where everybody is asked who they are. */
const BEHIND_THE_DOOR = ["/api/*", "/v1/*", "/ag-ui/*", "/mcp", "/ai-sdk/*"]

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
 * Problem JSON after RFC 9457, or what the dialect of the address has for it; a conflict about a proposal carries it, so
 * that the loser of a race sees how it ended.
 */
async function problem(c: Context<Env>, error: unknown, { address }: Pick<ServerPorts, "address">): Promise<Response> {
  const body = toProblem(error)
  const { proposal } = error instanceof AppError ? error.details : {}
  const isDialect = c.req.path.startsWith("/v1/")
  const headers: Record<string, string> = {
    "content-type": isDialect ? "application/json" : "application/problem+json",
  }
  if (body.status === 401)
    headers["www-authenticate"] = c.req.path === "/mcp" ? mcpChallenge(c, address) : 'Bearer realm="pawl"'
  if (error instanceof AppError && LATER.has(error.code)) headers["retry-after"] = String(error.details.seconds)
  if (PASSING.has(body.code)) headers["retry-after"] = RETRY_SECONDS
  const told = isDialect ? (await import("../dialects/openai/errors.ts")).toOpenAiError(body) : body
  return c.newResponse(JSON.stringify(proposal ? { ...told, proposal } : told), body.status as 400, headers)
}
