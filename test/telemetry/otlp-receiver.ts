import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { readJson, readProtobuf, type ReceivedSpan, type ReceivedTraces } from "./read-otlp.ts"

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** Receives spans: a real HTTP server that reads both forms of OTLP, and answers as the test wants. */
export class OtlpReceiver implements AsyncDisposable {
  readonly requests: {
    readonly headers: IncomingHttpHeaders
    readonly path: string
    readonly traces: ReceivedTraces
  }[] = []
  readonly #waiting = new Set<() => void>()
  readonly #answer: Answer
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  private constructor(answer: Answer) {
    this.#answer = answer
  }

  static async open(answer: Answer = (response) => response.end("{}")): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(answer)
    receiver.#server.listen(0, "127.0.0.1")
    await once(receiver.#server, "listening")
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get spans(): ReceivedSpan[] {
    return this.requests.flatMap(({ traces }) => traces.spans)
  }

  /** Resolves with the first matching span, as soon as it has arrived. */
  async told(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    for (;;) {
      const found = this.spans.find(fits)
      if (found) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(request))
    const { headers, url: path = "" } = request
    const traces = headers["content-type"] === "application/json" ? readJson(body) : readProtobuf(body)
    this.requests.push({ headers, path, traces })
    this.#answer(response, request)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** Lines of names, each indented below its parent: siblings by start time, then by name. */
export function treeOf(spans: readonly ReceivedSpan[], parent: string | undefined = undefined, depth = 0): string[] {
  const children = spans.filter((span) => span.parentId === parent)
  children.sort((a, b) => a.from - b.from || a.to - b.to || a.name.localeCompare(b.name))
  return children.flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...treeOf(spans, span.spanId, depth + 1)])
}
