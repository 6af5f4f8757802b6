import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/**
 * How an unavailable PostgreSQL behaves: it refuses connections (`refusing`), does not answer (`silent`), or answers
 * with a FATAL of this code.
 */
export type Away = "refusing" | "silent" | "57P03" | "53300" | "28P01" | "3D000"

/** A proxy between a server and its PostgreSQL that can interrupt and restore the connection. */
export class AwayPostgres implements AsyncDisposable {
  #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #pairs = new Set<{ readonly near: Socket; readonly far: Socket }>()
  #server = createServer()
  #port = 0
  #away: Away | undefined
  #lost: string | undefined

  constructor(url: string) {
    this.#target = new URL(url)
  }

  /** The url of the same database through this proxy. */
  async open(): Promise<string> {
    await this.#listen()
    const url = new URL(this.#target)
    url.hostname = "127.0.0.1"
    url.port = `${this.#port}`
    return url.href
  }

  /** New connections go to another server. */
  moveTo(url: string): void {
    this.#target = new URL(url)
  }

  /** Breaks every connection; new ones get this behaviour. */
  async leave(away: Away): Promise<void> {
    this.#away = away
    if (away === "refusing") await this.#stop()
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /**
   * Stops forwarding data without closing any connection, for open and new connections. With `answers`, queries still
   * reach the server.
   */
  fallSilent(what: "both ways" | "answers" = "both ways"): void {
    this.#away = "silent"
    for (const { near, far } of this.#pairs) {
      far.unpipe(near).resume()
      if (what === "both ways") near.unpipe(far).resume()
    }
    this.#pairs.clear()
  }

  /** Forwards the query that contains this text, then forwards no more answers. */
  loseAnswerTo(words: string): void {
    this.#lost = words
  }

  /** Serves new connections again. Connections that have fallen silent stay silent. */
  answerNewOnes(): void {
    this.#away = undefined
  }

  async comeBack(): Promise<void> {
    const refused = this.#away === "refusing"
    this.#away = undefined
    for (const socket of this.#sockets) socket.destroy()
    if (refused) await this.#listen()
  }

  async #listen(): Promise<void> {
    this.#server = createServer((near) => this.#join(near)).listen(this.#port, "127.0.0.1")
    await once(this.#server, "listening")
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async #stop(): Promise<void> {
    const closed = once(this.#server, "close")
    this.#server.close()
    for (const socket of this.#sockets) socket.resetAndDestroy()
    await closed
  }

  #join(near: Socket): void {
    this.#sockets.add(near)
    near.on("error", () => {}).on("close", () => this.#sockets.delete(near))
    const away = this.#away
    if (away === "silent") return
    if (away) return void near.once("data", () => near.end(fatal(away)))
    const far = connect(Number(this.#target.port || 5432), this.#target.hostname)
    const pair = { near, far }
    this.#pairs.add(pair)
    this.#sockets.add(far)
    // A silent connection does not pass the end of one side on to the other.
    const ended = (other: Socket) => this.#pairs.delete(pair) && other.destroy()
    far.on("error", () => {}).on("close", () => this.#sockets.delete(far) && ended(near))
    near.on("close", () => ended(far))
    near.pipe(far).pipe(near)
    near.on("data", (bytes: Buffer) => {
      if (this.#lost === undefined || !bytes.includes(this.#lost)) return
      this.#lost = undefined
      this.fallSilent("answers")
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (this.#server.listening) await this.#stop()
  }
}

/** An ErrorResponse of the protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function fatal(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mnot now, at 10.0.0.1\0\0`)
  const head = Buffer.alloc(5)
  head.write("E")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
