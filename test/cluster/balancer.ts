import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** Accepts connections for several servers and gives each to the next one in turn, skipping a server that does not answer. */
export class Balancer implements AsyncDisposable {
  readonly #server = createServer({ noDelay: true }, (near) => this.#join(near))
  readonly #sockets = new Map<Socket, string>()
  /** The ports of the servers that count as ready. */
  readonly #targets = new Set<string>()
  #turn = 0

  static async open(): Promise<Balancer> {
    const balancer = new Balancer()
    balancer.#server.listen(0, "127.0.0.1")
    await once(balancer.#server, "listening")
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  add(port: string): void {
    this.#targets.add(port)
  }

  /** Sends no new connections to this target; open connections stay. */
  drain(port: string): void {
    this.#targets.delete(port)
  }

  /** Sends no new connections to this target and cuts the open ones. */
  remove(port: string): void {
    this.#targets.delete(port)
    for (const [socket, target] of this.#sockets) if (target === port) socket.destroy()
  }

  #join(near: Socket, tried = 0): void {
    const targets = [...this.#targets]
    const target = targets[this.#turn++ % targets.length]
    if (target === undefined || tried > targets.length) return void near.destroy()
    near.on("error", () => {})
    const far = connect(Number(target), "127.0.0.1")
    far.once("error", () => this.#join(near, tried + 1))
    far.once("connect", () => {
      far.removeAllListeners("error").on("error", () => {})
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.set(socket, target)
        socket.on("close", () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
      }
      near.pipe(far).pipe(near)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }
}
