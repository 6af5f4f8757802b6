import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import {
  createMcpHandler,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"

type Asked = ElicitRequestFormParams | ElicitRequestURLParams
type Answered = { readonly action: string; readonly content?: unknown }

/** The two ways in which servers ask: over the stream of a tool call, or with a result that requires input. */
export type Age = "legacy" | "modern"

/** A server of the official package whose tool `book` asks before it answers, and returns the answers it got. */
export class AskingServer implements AsyncDisposable {
  /** The questions, asked one after another. */
  questions: readonly Asked[]
  calls = 0
  /** In the legacy protocol: whether it asks over the stream of the tool call, and not over that of the session. */
  isRelated = false
  readonly answers: Answered[] = []
  readonly #age: Age
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  readonly #modern = createMcpHandler(() => this.#createServer(), { legacy: "reject" })
  readonly #http = createServer(
    (request, response) => void getRequestListener((given) => this.#serve(given))(request, response),
  )

  private constructor(age: Age, questions: readonly Asked[]) {
    this.#age = age
    this.questions = questions
  }

  static async open(age: Age, ...questions: readonly Asked[]): Promise<AskingServer> {
    const server = new AskingServer(age, questions)
    await new Promise<void>((resolve) => server.#http.listen(0, "127.0.0.1", resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  async #serve(request: Request): Promise<Response> {
    if (this.#age === "modern") return this.#modern.fetch(request)
    const known = this.#sessions.get(request.headers.get("mcp-session-id") ?? "")
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    })
    await this.#createServer().connect(transport)
    return transport.handleRequest(request)
  }

  #createServer(): McpServer {
    const server = new McpServer({ name: "asking", version: "1" }, { capabilities: { tools: {} } })
    server.registerTool("book", { description: "Books a table." }, async (context) => {
      const { inputResponses, requestState } = context.mcpReq
      if (this.#age === "legacy") {
        this.calls++
        const options = this.isRelated ? { relatedRequestId: context.mcpReq.id } : {}
        for (const each of this.questions) {
          const asked = context.mcpReq.elicitInput(each, options)
          this.answers.push(await asked.catch(toAnswered))
        }
        return told(this.answers)
      }
      const at = Number(requestState() ?? 0)
      if (at === 0) this.calls++
      const answer = inputResponses?.q as Answered | undefined
      if (answer) this.answers.push(answer)
      const next = this.questions[at]
      if (!next) return told(this.answers)
      const inputRequests = { q: { method: "elicitation/create" as const, params: next } }
      return { resultType: "input_required" as const, inputRequests, requestState: String(at + 1) }
    })
    return server
  }
}

const INVALID_PARAMS = -32602

/** The client has answered with an error. */
function toAnswered(error: Error & { readonly code?: unknown }): Answered {
  const { code, message } = error
  if (code !== INVALID_PARAMS) throw error
  return { action: "error", content: { code, message } }
}

const told = (answers: readonly Answered[]) => ({
  content: [{ type: "text" as const, text: `Was told ${JSON.stringify(answers)}` }],
})
