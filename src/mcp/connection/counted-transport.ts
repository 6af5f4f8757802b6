import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import { boundedMessage } from "./bounded-message.ts"

/** How many messages a server may send between two of ours: progress is told now and then, not ten thousand times. */
const MAX_UNASKED = 2000
/** How many of a server's own questions may be on their way back to it at once: each is a request, or bytes that wait for it. */
const MAX_ANSWERS = 32
/** Characters of what a server calls a question, which our answer repeats. */
const MAX_ID = 1000
/** How long a server may take to hear what it is told last. */
const TELL_MS = 1000

/** A transport that ends where its server says far more than it was asked. */
export class CountedTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  readonly #inner: Transport
  readonly #telling = new Set<Promise<void>>()
  #unasked = 0
  #answers = 0
  #isFlooded = false

  constructor(inner: Transport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      if (this.#isFlooded || ("id" in message && String(message.id).length > MAX_ID)) return
      if (++this.#unasked > MAX_UNASKED) return this.#flooded(`${MAX_UNASKED} messages that nobody asked for`)
      this.onmessage?.(boundedMessage(message), extra)
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
    if (!("method" in message)) return this.#answer(message, options)
    // Only what we ask for makes room for more: answers would let a server ask for ever.
    this.#unasked = 0
    const sent = this.#inner.send(message, options)
    if ("id" in message) return sent
    // What is only told, such as that a call is cancelled, is on its way until then.
    const told = sent.then(
      () => void this.#telling.delete(told),
      () => void this.#telling.delete(told),
    )
    this.#telling.add(told)
    return sent
  }

  /** Lets what is only told go out first: closed at once, a server would never hear that it need not go on. */
  async close(): Promise<void> {
    if (this.#telling.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, TELL_MS)
      await Promise.race([Promise.all(this.#telling), promise])
      clearTimeout(late)
    }
    await this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions)
  }

  async #answer(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#isFlooded) return
    if (this.#answers >= MAX_ANSWERS) return this.#flooded(`${MAX_ANSWERS} questions at once`)
    this.#answers++
    try {
      await this.#inner.send(message, options)
    } finally {
      this.#answers--
    }
  }

  #flooded(what: string): void {
    this.#isFlooded = true
    this.onerror?.(new Error(`it sent more than ${what}`))
    void this.#inner
      .close()
      .catch(() => {})
      .then(() => this.onclose?.())
  }
}
