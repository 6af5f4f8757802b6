import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { StatusPart, Model, ModelRequest, ReplyPart } from "../../engine/model.ts"

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever an adapter sends; tests look into it freely
  readonly body: any
}

type Handle = (response: ServerResponse, received: Received) => unknown

/** The paths of model lists. */
const LISTS = /\/(?:models|props|api\/(?:tags|ps|show))(?:\?|$)/

/** A real local HTTP server that acts as a provider. By default it has no model list, and ignores requests for one. */
export class ProviderServer {
  readonly received: Received[] = []
  /** Connections that were opened so far. */
  connections = 0
  readonly #server = createServer((request, response) => void this.#handle(request, response))
  readonly #answer: Handle
  readonly #lists: boolean

  constructor(answer: Handle, { lists = false } = {}) {
    this.#answer = answer
    this.#lists = lists
    this.#server.on("connection", () => this.connections++)
  }

  static async open(answer: Handle, options?: { readonly lists?: boolean }): Promise<ProviderServer> {
    const server = new ProviderServer(answer, options)
    server.#server.listen(0, "127.0.0.1")
    await once(server.#server, "listening")
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** A `fetch` that sends requests for OpenAI and Anthropic to this server. */
  get fetch(): typeof globalThis.fetch {
    return (input, init) => fetch(String(input).replace(/^https:\/\/api\.(openai|anthropic)\.com/, this.url), init)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = "", headers } = request
    if (!this.#lists && LISTS.test(url)) return void response.writeHead(404).end()
    const received = { path: url, headers, body: JSON.parse(Buffer.concat(chunks).toString() || "null") as unknown }
    this.received.push(received)
    response.on("error", () => {})
    await this.#answer(response, received)
  }
}

/** A server that handles requests for model lists like any other. */
export const openLists = (answer: Handle): Promise<ProviderServer> => ProviderServer.open(answer, { lists: true })

export const sse = (...data: readonly unknown[]): string =>
  data.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")

/** A chunk of OpenAI's chat completions. */
export const chatChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
})

/** A complete chat reply with this text. */
export const chatReply = (text: string): string =>
  sse(chatChunk({ role: "assistant", content: text }), chatChunk({}, "stop"), "[DONE]")

export function streamHead(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.flushHeaders()
  return response
}

export const anyRequest: ModelRequest = {
  system: "Be brief.",
  history: [{ role: "user", text: "Hello" }],
  tools: [],
  toolChoice: "auto",
}

/** Reads a complete reply. */
export async function collect(
  model: Model,
  request: ModelRequest = anyRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<(ReplyPart | StatusPart)[]> {
  const parts: (ReplyPart | StatusPart)[] = []
  // Reasoning deltas are repeated by the complete part.
  for await (const part of model.stream(request, signal)) if (part.type !== "thinking") parts.push(part)
  return parts
}
