import type { IncomingMessage, ServerResponse } from "node:http"
import { PlayedServer, type Play, type PlayedTool } from "./played-server.ts"

type Json = Record<string, unknown>
type Answer = Json | "hang" | "endless" | { readonly redirect: string } | undefined

/**
 * An MCP server that requires a sign-in, and the authorization server that issues its tokens, on one port: by the
 * standard unless a test replaces an answer. A code is exchanged once; each renewal replaces the refresh token.
 */
export class PlayedAuthority implements AsyncDisposable {
  readonly server: PlayedServer
  /** Tokens that the MCP server accepts. */
  readonly accepted = new Set<string>()
  /** Every request except those for the MCP server, as `GET /path`. */
  readonly asked: string[] = []
  /** Forms that came to the token endpoint. */
  readonly exchanged: Record<string, string>[] = []
  /** Replaces or extends the answer at a path. */
  readonly instead = new Map<string, (usual: Json) => Answer | Promise<Answer>>()
  /** In seconds; undefined leaves it out of the answer. */
  expiresIn: number | undefined
  challenge: string | undefined
  #count = 0
  #renewing = new Set<string>()

  private constructor(server: PlayedServer) {
    this.server = server
    server.instead = (request, response) => this.#serve(request, response)
  }

  static async open(tools: readonly PlayedTool[], play?: Play): Promise<PlayedAuthority> {
    return new PlayedAuthority(await PlayedServer.open(tools, play))
  }

  get base(): string {
    return new URL(this.server.url).origin
  }

  /** Consents as a user does: returns the address that the browser is redirected to. */
  agree(url: string, more: Record<string, string> = {}): URL {
    const asked = new URL(url).searchParams
    const back = new URL(asked.get("redirect_uri") ?? "")
    const answer = { code: `code-${++this.#count}`, state: asked.get("state") ?? "", iss: this.base, ...more }
    for (const [name, value] of Object.entries(answer)) if (value !== "") back.searchParams.set(name, value)
    return back
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]()
  }

  #serve(request: IncomingMessage, response: ServerResponse): boolean {
    const { pathname } = new URL(request.url ?? "/", this.base)
    if (pathname === "/mcp") {
      const [, token = ""] = /^Bearer (.*)$/.exec(request.headers.authorization ?? "") ?? []
      if (this.accepted.has(token)) return false
      const metadata = `${this.base}/.well-known/oauth-protected-resource/mcp`
      const challenge = this.challenge ?? `Bearer resource_metadata="${metadata}", scope="notes"`
      response.writeHead(401, { "www-authenticate": challenge }).end()
      return true
    }
    this.asked.push(`${request.method} ${pathname}`)
    // Every browser consents at once.
    if (pathname === "/authorize") {
      const location = this.agree(`${this.base}${request.url}`).href
      response.writeHead(302, { location }).end()
      return true
    }
    void this.#answer(pathname, request, response)
    return true
  }

  async #answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const usual = this.#usual(path, Buffer.concat(chunks).toString("utf8"))
    const said = this.instead.has(path) ? await this.instead.get(path)?.(usual ?? {}) : usual
    if (said === "hang") return
    if (said === "endless") {
      response.writeHead(200, { "content-type": "application/json" })
      const more = () => {
        while (!response.destroyed && response.write(`"${"x".repeat(16_384)}",`));
      }
      response.on("drain", more)
      return more()
    }
    if (!said) return void response.writeHead(404).end()
    if (typeof said.redirect === "string") return void response.writeHead(302, { location: said.redirect }).end()
    response.writeHead("error" in said ? 400 : path === "/register" ? 201 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(said))
  }

  #usual(path: string, body: string): Json | undefined {
    const { base } = this
    switch (path) {
      case "/.well-known/oauth-protected-resource/mcp":
        return { resource: this.server.url, authorization_servers: [base], scopes_supported: ["notes"] }
      case "/.well-known/oauth-authorization-server":
        return {
          ...{ issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token` },
          ...{ registration_endpoint: `${base}/register`, response_types_supported: ["code"] },
          ...{ code_challenge_methods_supported: ["S256"], authorization_response_iss_parameter_supported: true },
        }
      case "/register":
        return { ...(JSON.parse(body) as Json), client_id: "pawl-there" }
      case "/token":
        return this.#token(Object.fromEntries(new URLSearchParams(body)))
      default:
        return undefined
    }
  }

  #token(form: Record<string, string>): Json {
    this.exchanged.push(form)
    const { grant_type, refresh_token = "" } = form
    if (grant_type === "refresh_token" && !this.#renewing.delete(refresh_token)) return { error: "invalid_grant" }
    const number = ++this.#count
    const tokens = { access_token: `access-token-${number}`, refresh_token: `refresh-token-${number}` }
    this.accepted.clear()
    this.accepted.add(tokens.access_token)
    this.#renewing.add(tokens.refresh_token)
    return {
      ...{ ...tokens, token_type: "Bearer", scope: "notes" },
      ...(this.expiresIn === undefined ? {} : { expires_in: this.expiresIn }),
    }
  }
}
