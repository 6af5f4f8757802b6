import { createHmac, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

interface Call {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it freely
  readonly body: any
}

/** A receiver of notifications about proposals: a real HTTP server that answers as the test wants. */
export class Receiver implements AsyncDisposable {
  readonly calls: Call[] = []
  readonly #answer: (response: ServerResponse, count: number) => void
  readonly #waiting = new Set<() => void>()
  readonly #server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    request.on("end", () => {
      this.calls.push({ headers: request.headers, text, body: JSON.parse(text) })
      this.#answer(response, this.calls.length)
      for (const wake of this.#waiting) wake()
    })
  })

  private constructor(answer: (response: ServerResponse, count: number) => void) {
    this.#answer = answer
  }

  static async open(answer: (response: ServerResponse, count: number) => void): Promise<Receiver> {
    const receiver = new Receiver(answer)
    receiver.#server.listen(0, "127.0.0.1")
    await once(receiver.#server, "listening")
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  async called(times: number): Promise<void> {
    while (this.calls.length < times) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}

/** Verifies the signature and its age, as docs/recipes/get-notified-of-approvals.md describes. */
export function isGenuine({ headers, text }: Pick<Call, "headers" | "text">, secret: string, now: number): boolean {
  const [, seconds = "", given = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["pawl-signature"])) ?? []
  const expected = createHmac("sha256", secret).update(`${seconds}.${text}`).digest()
  return (
    timingSafeEqual(expected, Buffer.from(given.padEnd(64, "0"), "hex")) && Math.abs(now / 1000 - Number(seconds)) < 300
  )
}
