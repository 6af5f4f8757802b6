import { createHash } from "node:crypto"
import type { Msg, NatsConnection, RequestError } from "@nats-io/transport-node"
import { type Clock, monotonicOf, sleep } from "../shared/time/clock.ts"
import type { Log } from "../shared/log.ts"
import { type BusKeys, MAX_OVERHEAD, MessageCipher, type MessageKind } from "./message-cipher.ts"
import { RefusedMessages } from "./outbox.ts"
import {
  type Addressee,
  type Delivery,
  ALL_NODES,
  MAX_MESSAGE,
  type BusTransport,
  type TransportReceiver,
} from "./wire.ts"

export interface NatsSettings {
  /** One or several comma-separated `nats://…` or `tls://…` addresses. */
  readonly url: string
  /** The text of a credentials file. */
  readonly credentials?: string | undefined
  /** Separates several clusters that share one NATS. */
  readonly cluster: string
}

interface NatsPorts {
  readonly self: string
  readonly clock: Clock
  readonly log: Log
  /** The keys that messages are encrypted with. */
  readonly keys: BusKeys
}

const TIMEOUT_MS = 5000
/** If no receipt has arrived by then, the recipient may not have the message. */
const DELIVERY_MS = 1000
/** The default maximum payload of NATS, in bytes. */
const DEFAULT_PAYLOAD = 1_000_000
/** A character takes up to three bytes; the envelope of a batch takes fewer characters than this. */
const [CHARACTER_BYTES, ENVELOPE] = [3, 200]
const LEAST_PAYLOAD = (MAX_MESSAGE + ENVELOPE) * CHARACTER_BYTES + MAX_OVERHEAD
/** The recipient that a receipt is encrypted for. Its text names the confirmed message. */
const RECEIPT = "receipt"
const PAYLOAD_TOO_SMALL = `its max_payload is below ${LEAST_PAYLOAD} bytes: set it higher`
/** How often the connection is tested by a round trip. */
const PROBE_MS = 2000
/**
 * Bytes in flight without an answer of the server. Beyond that it is too slow, and nothing is sent until it has caught
 * up.
 */
const MAX_UNCONFIRMED = 16 * 1024 * 1024

/**
 * The connection between nodes, over plain NATS subjects without persistence: one for each node, and one for all. It
 * reconnects for as long as the process lives, and nothing waits for it. NATS is not trusted: each message is encrypted
 * for its recipient, and messages that cannot be opened are counted and dropped.
 */
export class NatsTransport implements BusTransport {
  readonly self: string
  /** Messages that could not be opened. */
  readonly refused: RefusedMessages
  readonly #cipher: MessageCipher
  readonly #subject: string
  readonly #ports: NatsPorts
  readonly #closed = new AbortController()
  #connection: NatsConnection | undefined
  #receiver: TransportReceiver | undefined
  #onDelivery: ((text: string) => void) | undefined
  #up = false
  #unconfirmed = 0
  #lagMs: number | undefined
  #refreshing = false

  constructor(settings: NatsSettings, ports: NatsPorts) {
    this.self = ports.self
    this.#ports = ports
    this.refused = new RefusedMessages(ports)
    this.#cipher = new MessageCipher(ports.keys, { cluster: settings.cluster, self: ports.self })
    this.#subject = `pawl.${settings.cluster}`
    void this.#connect(settings)
  }

  get up(): boolean {
    return this.#up
  }

  get lagMs(): number | undefined {
    return this.#up ? this.#lagMs : undefined
  }

  get unconfirmed(): number {
    return this.#unconfirmed
  }

  get room(): number {
    return Math.floor((this.#payload - MAX_OVERHEAD) / CHARACTER_BYTES) - ENVELOPE
  }

  setReceiver(receiver: TransportReceiver): void {
    this.#receiver = receiver
  }

  onDelivery(listener: (text: string) => void): void {
    this.#onDelivery = listener
  }

  async deliver(to: string, text: string): Promise<Delivery> {
    if (!this.#up || !this.#connection || this.#isTooLong(text)) return "nobody"
    const subject = `${this.#subject}.mail.${to}`
    try {
      const sent = this.#cipher.encrypt(subject, text)
      const receipt = await this.#connection.request(subject, sent, { timeout: DELIVERY_MS })
      // Any program on NATS can answer a request, but only the recipient can name the message.
      return this.#open(RECEIPT, receipt.data, "receipt") === nameOf(sent) ? "taken" : "unknown"
    } catch (error) {
      return (error as Partial<RequestError>).isNoResponders?.() ? "nobody" : "unknown"
    }
  }

  send(to: Addressee, text: string): void {
    if (!this.#up || !this.#connection) return
    if (this.#isTooLong(text)) return this.#setUp(false, "it only accepts shorter messages")
    const subject = to === ALL_NODES ? `${this.#subject}.all` : `${this.#subject}.node.${to}`
    try {
      const sent = this.#cipher.encrypt(subject, text)
      this.#unconfirmed += sent.length
      if (this.#unconfirmed > MAX_UNCONFIRMED) return this.#setUp(false, "it does not keep up")
      this.#connection.publish(subject, sent)
    } catch (error) {
      this.#setUp(false, (error as Error).message) // the caller could not do anything about it
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    this.#up = false
    await this.#connection?.close()
  }

  /** Imports the NATS client only if NATS is configured. */
  async #connect({ url, credentials }: NatsSettings): Promise<void> {
    const { clock, log } = this.#ports
    const servers = url.split(",").map((each) => new URL(each.trim()))
    for (let isLogged = false; !this.#closed.signal.aborted;) {
      try {
        await this.#cipher.refresh()
        const { connect, credsAuthenticator } = await import("@nats-io/transport-node")
        const authenticator =
          credentials === undefined ? {} : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }
        const connection = await connect({
          ...authenticator,
          ...loginOf(servers[0]!),
          servers: servers.map(({ host }) => host),
          ...(servers.some(({ protocol }) => protocol === "tls:") ? { tls: await encrypted(servers) } : {}),
          name: this.self,
          timeout: TIMEOUT_MS,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 250,
          reconnectJitter: 250,
          ignoreAuthErrorAbort: true,
          pingInterval: PROBE_MS,
          maxPingOut: 2,
          noEcho: true,
        })
        isLogged = false
        this.#start(connection)
        // The client reconnects by itself. If it has given up, a new one is created.
        await connection.closed()
        this.#setUp(false, "the connection was closed")
      } catch (error) {
        if (!isLogged) log.warn("bus_down", { error })
        isLogged = true
        await sleep(clock, 1000, this.#closed.signal)
      }
    }
  }

  #start(connection: NatsConnection): void {
    if (this.#closed.signal.aborted) return void connection.close()
    this.#connection = connection
    if (this.#payload < LEAST_PAYLOAD) this.#ports.log.warn("bus_down", { why: PAYLOAD_TOO_SMALL })
    const subjects = {
      [`${this.#subject}.all`]: "broadcast",
      [`${this.#subject}.node.${this.self}`]: "direct",
    } as const
    for (const [subject, kind] of Object.entries(subjects)) {
      const callback = (error: Error | null, { data }: Msg) => {
        const text = error ? undefined : this.#open(subject, data, kind)
        if (text !== undefined) this.#receiver?.received(text)
      }
      connection.subscribe(subject, { callback })
    }
    const mail = `${this.#subject}.mail.${this.self}`
    connection.subscribe(mail, {
      callback: (error, message) => {
        if (error || !this.#onDelivery) return
        const text = this.#open(mail, message.data, "direct")
        if (text === undefined) return
        message.respond(this.#cipher.encrypt(RECEIPT, nameOf(message.data)))
        this.#onDelivery(text)
      },
    })
    void this.#watchStatus(connection)
    void this.#keepProbing(connection)
  }

  #open(recipient: string, bytes: Uint8Array, kind: MessageKind): string | undefined {
    const opened = this.#cipher.open(recipient, bytes, kind)
    if ("text" in opened) return opened.text
    if ("refused" in opened) this.refused.note(opened.sender, opened.refused)
    else this.#receiver?.unknownSender(opened.sender)
    return undefined
  }

  async #watchStatus(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect" || status.type === "staleConnection")
        this.#setUp(false, "the connection is lost")
      else if (status.type === "reconnect") void this.#probe(connection)
      else if (status.type === "error") this.#ports.log.warn("bus_error", { error: status.error })
    }
  }

  async #keepProbing(connection: NatsConnection): Promise<void> {
    while (!connection.isClosed() && !this.#closed.signal.aborted) {
      void this.#refreshKeys()
      await this.#probe(connection)
      await sleep(this.#ports.clock, PROBE_MS, this.#closed.signal)
    }
  }

  /** A rotation changes the key of the database while nodes run. Until the database answers, the keys stay as they were. */
  async #refreshKeys(): Promise<void> {
    if (this.#refreshing) return
    this.#refreshing = true
    await this.#cipher.refresh().catch(() => {})
    this.#refreshing = false
  }

  /** The connection is up if a round trip succeeds in time. */
  async #probe(connection: NatsConnection): Promise<void> {
    const [before, begun] = [this.#unconfirmed, monotonicOf(this.#ports.clock)]
    using stack = new DisposableStack()
    const timeout = stack.adopt(new AbortController(), (each) => each.abort())
    const answered = connection.flush().then(
      () => true,
      () => false,
    )
    const inTime = await Promise.race([
      answered,
      sleep(this.#ports.clock, TIMEOUT_MS, timeout.signal).then(() => false),
    ])
    if (inTime) this.#unconfirmed = Math.max(0, this.#unconfirmed - before)
    this.#lagMs = monotonicOf(this.#ports.clock) - begun
    const isRoomy = this.#payload >= LEAST_PAYLOAD
    this.#setUp(inTime && isRoomy, isRoomy ? "it does not answer" : PAYLOAD_TOO_SMALL)
  }

  /** The client throws if a message is too long. */
  #isTooLong(text: string): boolean {
    return Buffer.byteLength(text) + MAX_OVERHEAD > this.#payload
  }

  get #payload(): number {
    return this.#connection?.info?.max_payload ?? DEFAULT_PAYLOAD
  }

  #setUp(up: boolean, why: string): void {
    if (this.#up === up || this.#closed.signal.aborted) return
    this.#up = up
    const { log } = this.#ports
    if (up) log.info("bus_up", { server: this.#connection?.getServer() })
    else log.warn("bus_down", { why })
    this.#receiver?.changed()
  }
}

const nameOf = (message: Uint8Array): string => createHash("sha256").update(message).digest("hex")

const encrypted = async (servers: readonly URL[]) =>
  (await import("./named-certificate.ts")).withNamedCertificate(servers)

/** A user and a password, or a token in place of the user. The client does not read them from an address. */
function loginOf({ username, password }: URL): { user: string; pass: string } | { token: string } | undefined {
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)]
  if (pass) return { user, pass }
  return user ? { token: user } : undefined
}
