import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"

/** How many messages a server may send between two of ours: progress is told now and then, not ten thousand times. */
const MAX_UNASKED = 2000

/** A transport that ends where its server says far more than it was asked. */
export class CountedTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  readonly #inner: Transport
  #unasked = 0

  constructor(inner: Transport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      if (++this.#unasked > MAX_UNASKED) {
        if (this.#unasked === MAX_UNASKED + 1) void this.#flooded()
        return
      }
      this.onmessage?.(message, extra)
    }
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#unasked = 0
    return this.#inner.send(message, options)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions)
  }

  async #flooded(): Promise<void> {
    this.onerror?.(new Error(`it sent more than ${MAX_UNASKED} messages that nobody asked for`))
    await this.#inner.close().catch(() => {})
    this.onclose?.()
  }
}
