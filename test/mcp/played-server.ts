import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface PlayedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: object
  readonly outputSchema?: object
  readonly annotations?: object
  readonly execution?: object
}

export interface PlayedCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
  readonly task?: unknown
  readonly headers: IncomingMessage["headers"]
}

interface Received {
  readonly id?: number
  readonly method?: string
  readonly params: Omit<PlayedCall, "headers">
}

/** The answer to a tool call: a result, or "played" if the test writes the response itself. */
export type Play = (
  call: PlayedCall,
  response: ServerResponse,
  id: unknown,
) => object | "played" | Promise<object | "played">

/** An MCP server over HTTP in this process whose behaviour, good or bad, a test sets. */
export class PlayedServer implements AsyncDisposable {
  readonly calls: PlayedCall[] = []
  /** Every request that came, by its JSON-RPC method. */
  readonly methods: string[] = []
  /** How many of its own requests were answered. */
  answers = 0
  tools: readonly PlayedTool[]
  play: Play
  /** Answers in its place if it returns something. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** Requests of this method are never answered. */
  silentAbout: string | undefined
  /** The capabilities it declares apart from its tools. */
  capabilities: object = {}
  /** Answers requests that are neither for the list nor for a call. */
  other: ((method: string, params: Readonly<Record<string, unknown>>) => object | undefined) | undefined
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  constructor(tools: readonly PlayedTool[], play: Play = () => text("Done.")) {
    this.tools = tools
    this.play = play
  }

  static async open(tools: readonly PlayedTool[], play?: Play): Promise<PlayedServer> {
    const played = new PlayedServer(tools, play)
    await new Promise<void>((resolve) => played.#server.listen(0, "127.0.0.1", resolve))
    return played
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.instead?.(request, response)) return
    if (request.method !== "POST") return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Received
    if (method === undefined) this.answers++
    else this.methods.push(method)
    if (id === undefined || method === undefined) return void response.writeHead(202).end()
    if (method === this.silentAbout) return
    const answer = (body: object) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }))
    }
    switch (method) {
      case "initialize":
        return answer({
          result: {
            protocolVersion: "2025-06-18",
            capabilities: { tools: { listChanged: true }, ...this.capabilities },
            serverInfo: { name: "played", version: "1" },
          },
        })
      case "tools/list": {
        const tools = this.tools.map((tool) => ({ inputSchema: { type: "object", properties: {} }, ...tool }))
        return answer({ result: { tools } })
      }
      case "tools/call": {
        const call = { ...params, headers: request.headers }
        this.calls.push(call)
        const result = await this.play(call, response, id)
        return result === "played" ? undefined : answer({ result })
      }
      default: {
        const given = this.other?.(method, params as unknown as Readonly<Record<string, unknown>>)
        if (given) return answer(given)
        return answer({ error: { code: -32601, message: `There is no ${method}.` } })
      }
    }
  }
}

export const text = (words: string) => ({ content: [{ type: "text", text: words }] })
