import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A proxy in front of a server that cuts connections after so many bytes of an answer. */
export class Cutter implements AsyncDisposable {
  readonly #server = createServer({ noDelay: true }, (near) => this.#join(near))
  readonly #sockets = new Set<Socket>()
  readonly #target: URL
  /** How many bytes of the next answer get through. */
  #lives: () => number = () => Number.POSITIVE_INFINITY
  cuts = 0

  private constructor(target: string) {
    this.#target = new URL(target)
  }

  static async open(target: string): Promise<Cutter> {
    const cutter = new Cutter(target)
    cutter.#server.listen(0, "127.0.0.1")
    await once(cutter.#server, "listening")
    return cutter
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Lets so many bytes of the next answers through, in turn; the last number counts for all that follow. */
  cutAfter(...bytes: readonly number[]): void {
    const left = [...bytes]
    this.#lives = () => (left.length > 1 ? (left.shift() as number) : (left[0] ?? Number.POSITIVE_INFINITY))
  }

  /** Cuts all open connections. */
  cutNow(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    let left = this.#lives()
    let answering = false
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        this.#sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on("data", (data) => {
      if (answering) left = this.#lives() // a connection that was kept for another request
      answering = false
      far.write(data)
    })
    far.on("data", (data) => {
      answering = true
      near.write(data.subarray(0, left))
      left -= data.length
      if (left > 0) return
      this.cuts++
      near.end(() => near.resetAndDestroy())
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutNow()
    this.#server.close()
    await once(this.#server, "close")
  }
}
