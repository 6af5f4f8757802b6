import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"
import { ClientFrame } from "../../core/protocol/socket.ts"

type Frame = Readonly<Record<string, unknown>> & { readonly type: string }

/** The server's side of one socket: records the frames it receives, each validated against its schema. */
export class ServerSide {
  readonly socket: WebSocket
  readonly protocol: string
  readonly heard: Frame[] = []
  readonly closed: Promise<unknown>
  readonly #waiting = new Set<() => void>()

  constructor(socket: WebSocket, protocol: string) {
    this.socket = socket
    this.protocol = protocol
    this.closed = once(socket, "close")
    socket.on("message", (data: Buffer) => {
      const frame: unknown = JSON.parse(data.toString())
      ClientFrame.parse(frame)
      this.heard.push(frame as Frame)
      for (const wake of this.#waiting) wake()
    })
  }

  say(frame: Frame | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame))
  }

  /** Returns the first or nth frame that matches, now or later. */
  async hears(type: string, id?: string, nth = 1): Promise<Frame> {
    const fits = (frame: Frame) => frame.type === type && (id === undefined || frame.id === id)
    for (;;) {
      const found = this.heard.filter(fits)[nth - 1]
      if (found) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Repeats the hello, as a server does once the device is registered. */
  async registers(): Promise<Frame> {
    const hello = await this.hears("hello")
    this.say(hello)
    return hello
  }
}

/** A server that a test scripts: it issues tickets, or refuses them, and sockets. */
export class ScriptedSocketServer implements AsyncDisposable {
  readonly url: string
  readonly tokens: (string | undefined)[] = []
  /** The status with which tickets are refused. */
  refuses: number | undefined
  readonly #stop: () => Promise<void>
  readonly #sides: ServerSide[] = []
  readonly #waiting: ((side: ServerSide) => void)[] = []

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url
    this.#stop = stop
  }

  static async open(): Promise<ScriptedSocketServer> {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, path: "/api/ws" })
    http.listen(0, "127.0.0.1")
    await once(http, "listening")
    const { port } = http.address() as AddressInfo
    const server = new ScriptedSocketServer(`http://127.0.0.1:${port}`, async () => {
      for (const socket of sockets.clients) socket.terminate()
      http.closeAllConnections()
      http.close()
      await once(http, "close")
    })
    let tickets = 0
    http.on("request", (request, response) => {
      server.tokens.push(request.headers.authorization)
      const { refuses } = server
      const json = { "content-type": "application/json" }
      const problem = { type: "x", title: "x", status: refuses, detail: "We do not know you.", code: "unauthenticated" }
      if (refuses) return response.writeHead(refuses, json).end(JSON.stringify(problem))
      const ticket = { ticket: `secret${++tickets}`, expiresAt: new Date().toISOString() }
      return response.writeHead(request.url === "/api/auth/ticket" ? 201 : 404, json).end(JSON.stringify(ticket))
    })
    sockets.on("connection", (socket) => {
      const side = new ServerSide(socket, socket.protocol)
      const waiting = server.#waiting.shift()
      if (waiting) waiting(side)
      else server.#sides.push(side)
    })
    return server
  }

  /** Returns the next socket that was or is opened. */
  async next(): Promise<ServerSide> {
    return this.#sides.shift() ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop()
  }
}
