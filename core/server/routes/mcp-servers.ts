import type { Context, Hono } from "hono"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Page } from "../../protocol/answers.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import { requireBaseUrl } from "../auth/origins.ts"
import type { Env, ServerAddress } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { ChangedMcpServer, McpDecision, McpServerView, NewMcpServer } from "../../protocol/mcp-servers.ts"

/** MCP servers whose tools agents may use. */
export function mcpServerRoutes(app: Hono<Env>, { mcpServers, address }: McpServerRoutePorts): void {
  serveRoute(app, routes.listMcpServers, (c, { query }) => mcpServers.list(userOf(c), query))

  serveRoute(app, routes.addMcpServer, (c, { body }) => mcpServers.add(userOf(c), body, c.req.raw.signal))

  serveRoute(app, routes.changeMcpServer, (c, { body }) =>
    mcpServers.change(userOf(c), nameOf(c), { change: body, signal: c.req.raw.signal }),
  )

  serveRoute(app, routes.lookAtMcpServer, (c) => mcpServers.look(userOf(c), nameOf(c), c.req.raw.signal))

  serveRoute(app, routes.decideMcpTool, (c, { body }) => {
    const isAdmin = c.get("caller").scopes.has("admin")
    return mcpServers.decide(userOf(c), nameOf(c), { ...body, isAdmin })
  })

  serveRoute(app, routes.beginMcpSignIn, async (c, { body }) => {
    const { redirect } = body
    const base = requireBaseUrl(c, address)
    // A client document must be reachable from the internet, so it needs a public https address.
    const isRead = redirect === undefined && address.publicUrl?.startsWith("https:")
    const from = {
      redirect: redirect ?? `${base}${CALLBACK}`,
      clientDocument: isRead ? `${base}${routes.readMcpClient.path}` : undefined,
      session: redirect === undefined ? sessionOf(c) : undefined,
    }
    return { url: await mcpServers.beginSignIn(userOf(c), nameOf(c), from) }
  })

  serveRoute(app, routes.finishMcpSignIn, (c, { body: { answer } }) => {
    return mcpServers.finishSignIn(userOf(c), { answer, session: sessionOf(c), signal: c.req.raw.signal })
  })

  serveRoute(app, routes.endMcpSignIn, async (c) => {
    await mcpServers.endSignIn(userOf(c), nameOf(c))
    return null
  })

  serveRoute(app, routes.removeMcpServer, async (c) => {
    await mcpServers.remove(userOf(c), nameOf(c))
    return null
  })
}

/** Routes before authentication: our client metadata, which MCP servers read, and the page that they redirect to. */
export function mcpSignInRoutes(app: Hono<Env>, { address }: Pick<McpServerRoutePorts, "address">): void {
  serveRoute(app, routes.readMcpClient, (c) => {
    const base = requireBaseUrl(c, address)
    return {
      ...{ client_id: `${base}${routes.readMcpClient.path}`, client_name: "Pawl", client_uri: base },
      ...{ redirect_uris: [`${base}${CALLBACK}`], grant_types: ["authorization_code", "refresh_token"] },
      ...{ response_types: ["code"], token_endpoint_auth_method: "none" as const },
    }
  })
  app.get(CALLBACK, async (c) => (await import("./mcp-callback-page.ts")).showMcpCallback(c))
  app.get(`${CALLBACK}.js`, async (c) => (await import("./mcp-callback-page.ts")).showMcpCallbackScript(c))
}

const CALLBACK = "/mcp-sign-in/callback"

/** The browser session; a program has none, and its person's browser finishes the sign-in. */
function sessionOf(c: Context<Env>): string | undefined {
  const { credential } = c.get("caller")
  return credential.type === "session" ? credential.id : undefined
}

const nameOf = (c: Context<Env>): string => c.req.param("name") ?? ""

export interface McpServerRoutePorts {
  readonly mcpServers: McpServers
  readonly address: ServerAddress
}

/** The address that a sign-in returns to, and the browser session that may finish it. */
interface McpSignInStart {
  readonly redirect: string
  /** The public address of our client metadata, if there is one. */
  readonly clientDocument: string | undefined
  readonly session: string | undefined
}

/** The MCP servers of a person, including the operator's. Throws `not_found` for an unknown name. */
interface McpServers {
  list(user: UserId, page: PageQuery): Promise<Page<McpServerView>>
  add(user: UserId, server: NewMcpServer, signal: AbortSignal): Promise<McpServerView>
  change(
    user: UserId,
    name: string,
    asked: { readonly change: ChangedMcpServer; readonly signal: AbortSignal },
  ): Promise<McpServerView>
  look(user: UserId, name: string, signal: AbortSignal): Promise<McpServerView>
  /** `isAdmin`: may decide about the operator's servers. */
  decide(user: UserId, name: string, decision: McpDecision & { readonly isAdmin: boolean }): Promise<McpServerView>
  remove(user: UserId, name: string): Promise<void>
  /** Returns the address for the person's browser. */
  beginSignIn(user: UserId, name: string, from: McpSignInStart): Promise<string>
  finishSignIn(
    user: UserId,
    came: { readonly answer: string; readonly session: string | undefined; readonly signal: AbortSignal },
  ): Promise<McpServerView>
  endSignIn(user: UserId, name: string): Promise<void>
}
