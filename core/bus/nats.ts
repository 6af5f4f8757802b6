import { createHash } from "node:crypto"
import type { Msg, NatsConnection, RequestError } from "@nats-io/transport-node"
import { type Clock, monotonicOf, sleep } from "../shared/time/clock.ts"
import type { Log } from "../shared/log.ts"
import { type BusKeys, MAX_OVERHEAD, MessageCipher, type MessageKind } from "./message-cipher.ts"
import { RefusedMessages } from "./outbox.ts"
import { type Addressee, type Delivery, EVERYBODY, MAX_WORD, type Wire, type WireEars } from "./wire.ts"

export interface NatsSettings {
  /** One or several `nats://…` or `tls://…`, split by commas. */
  readonly url: string
  /** The text of a credentials file. */
  readonly credentials?: string | undefined
  /** Servers of one NATS that do not belong together have different names here. */
  readonly cluster: string
}

interface NatsPorts {
  readonly self: string
  readonly clock: Clock
  readonly log: Log
  /** What messages are encrypted under. */
  readonly keys: BusKeys
}

const PATIENCE_MS = 5000
/** A process that has not said by then that it has a text may not have it. */
const DELIVERY_MS = 1000
/** What NATS carries at a time in bytes, unless it says otherwise. */
const USUAL_PAYLOAD = 1_000_000
/** A character may be three bytes; what a letter says beside its words is less than so many characters. */
const [BYTES, ADDRESS] = [3, 200]
const LEAST_PAYLOAD = (MAX_WORD + ADDRESS) * BYTES + MAX_OVERHEAD
/** What an answer to a delivered message is encrypted for: its text names the message. */
const RECEIPT = "receipt"
const TOO_NARROW = `its max_payload is below ${LEAST_PAYLOAD} bytes: set it higher`
/** How often the connection is asked whether it still carries anything. */
const PROBE_MS = 2000
/** So much may be on its way without a word of the server: then it is too slow, and nothing more is sent until it has caught up. */
const MAX_UNHEARD = 16 * 1024 * 1024

/**
 * NATS without anything that lasts: subjects for each process and for all of them. It is looked for as long as this
 * process lives, and never waited for. NATS itself is not trusted: each message is encrypted for its recipient, and what
 * cannot be opened is counted and dropped.
 */
export class NatsWire implements Wire {
  readonly self: string
  /** Messages that could not be opened. */
  readonly refused: RefusedMessages
  readonly #cipher: MessageCipher
  readonly #subject: string
  readonly #ports: NatsPorts
  readonly #closed = new AbortController()
  #connection: NatsConnection | undefined
  #ears: WireEars | undefined
  #take: ((text: string) => void) | undefined
  #up = false
  #unheard = 0
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

  get unheard(): number {
    return this.#unheard
  }

  get room(): number {
    return Math.floor((this.#payload - MAX_OVERHEAD) / BYTES) - ADDRESS
  }

  listen(ears: WireEars): void {
    this.#ears = ears
  }

  onDelivery(listener: (text: string) => void): void {
    this.#take = listener
  }

  async deliver(to: string, text: string): Promise<Delivery> {
    if (!this.#up || !this.#connection || this.#isTooLong(text)) return "nobody"
    const subject = `${this.#subject}.mail.${to}`
    try {
      const sent = this.#cipher.encrypt(subject, text)
      const receipt = await this.#connection.request(subject, sent, { timeout: DELIVERY_MS })
      // Anybody can answer a request: only the recipient can name the message.
      return this.#open(RECEIPT, receipt.data, "receipt") === nameOf(sent) ? "taken" : "unknown"
    } catch (error) {
      return (error as Partial<RequestError>).isNoResponders?.() ? "nobody" : "unknown"
    }
  }

  send(to: Addressee, text: string): void {
    if (!this.#up || !this.#connection) return
    if (this.#isTooLong(text)) return this.#turn(false, "it only accepts shorter messages")
    const subject = to === EVERYBODY ? `${this.#subject}.all` : `${this.#subject}.node.${to}`
    try {
      const sent = this.#cipher.encrypt(subject, text)
      this.#unheard += sent.length
      if (this.#unheard > MAX_UNHEARD) return this.#turn(false, "it does not keep up")
      this.#connection.publish(subject, sent)
    } catch (error) {
      this.#turn(false, (error as Error).message) // nobody who says something can do anything about it
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    this.#up = false
    await this.#connection?.close()
  }

  /** The client is loaded where it is wanted, and nowhere else. */
  async #connect({ url, credentials }: NatsSettings): Promise<void> {
    const { clock, log } = this.#ports
    const servers = url.split(",").map((each) => new URL(each.trim()))
    for (let told = false; !this.#closed.signal.aborted;) {
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
          timeout: PATIENCE_MS,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 250,
          reconnectJitter: 250,
          ignoreAuthErrorAbort: true,
          pingInterval: PROBE_MS,
          maxPingOut: 2,
          noEcho: true,
        })
        told = false
        this.#begin(connection)
        // It connects again by itself; one that has given up all the same is replaced.
        await connection.closed()
        this.#turn(false, "the connection was closed")
      } catch (error) {
        if (!told) log.warn("bus_down", { error })
        told = true
        await sleep(clock, 1000, this.#closed.signal)
      }
    }
  }

  #begin(connection: NatsConnection): void {
    if (this.#closed.signal.aborted) return void connection.close()
    this.#connection = connection
    if (this.#payload < LEAST_PAYLOAD) this.#ports.log.warn("bus_down", { why: TOO_NARROW })
    const subjects = {
      [`${this.#subject}.all`]: "broadcast",
      [`${this.#subject}.node.${this.self}`]: "direct",
    } as const
    for (const [subject, kind] of Object.entries(subjects)) {
      const callback = (error: Error | null, { data }: Msg) => {
        const text = error ? undefined : this.#open(subject, data, kind)
        if (text !== undefined) this.#ears?.heard(text)
      }
      connection.subscribe(subject, { callback })
    }
    const mail = `${this.#subject}.mail.${this.self}`
    connection.subscribe(mail, {
      callback: (error, message) => {
        if (error || !this.#take) return
        const text = this.#open(mail, message.data, "direct")
        if (text === undefined) return
        message.respond(this.#cipher.encrypt(RECEIPT, nameOf(message.data)))
        this.#take(text)
      },
    })
    void this.#watchStatus(connection)
    void this.#keepProbing(connection)
  }

  #open(recipient: string, bytes: Uint8Array, kind: MessageKind): string | undefined {
    const opened = this.#cipher.open(recipient, bytes, kind)
    if ("text" in opened) return opened.text
    if ("refused" in opened) this.refused.note(opened.sender, opened.refused)
    else this.#ears?.unmet(opened.sender)
    return undefined
  }

  async #watchStatus(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect" || status.type === "staleConnection") this.#turn(false, "the connection is lost")
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

  /** It is up when what was sent has come there and an answer back, in time. */
  async #probe(connection: NatsConnection): Promise<void> {
    const [before, begun] = [this.#unheard, monotonicOf(this.#ports.clock)]
    using stack = new DisposableStack()
    const late = stack.adopt(new AbortController(), (each) => each.abort())
    const answered = connection.flush().then(
      () => true,
      () => false,
    )
    const inTime = await Promise.race([answered, sleep(this.#ports.clock, PATIENCE_MS, late.signal).then(() => false)])
    if (inTime) this.#unheard = Math.max(0, this.#unheard - before)
    this.#lagMs = monotonicOf(this.#ports.clock) - begun
    const isRoomy = this.#payload >= LEAST_PAYLOAD
    this.#turn(inTime && isRoomy, isRoomy ? "it does not answer" : TOO_NARROW)
  }

  /** What is too long makes the client throw. */
  #isTooLong(text: string): boolean {
    return Buffer.byteLength(text) + MAX_OVERHEAD > this.#payload
  }

  get #payload(): number {
    return this.#connection?.info?.max_payload ?? USUAL_PAYLOAD
  }

  #turn(up: boolean, why: string): void {
    if (this.#up === up || this.#closed.signal.aborted) return
    this.#up = up
    const { log } = this.#ports
    if (up) log.info("bus_up", { server: this.#connection?.getServer() })
    else log.warn("bus_down", { why })
    this.#ears?.changed()
  }
}

const nameOf = (message: Uint8Array): string => createHash("sha256").update(message).digest("hex")

/** Loaded where it is wanted, as the client is. */
const encrypted = async (servers: readonly URL[]) =>
  (await import("./named-certificate.ts")).withNamedCertificate(servers)

/** A name and a password, or a name alone, which is a token: the client does not take them from an address. */
function loginOf({ username, password }: URL): { user: string; pass: string } | { token: string } | undefined {
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)]
  if (pass) return { user, pass }
  return user ? { token: user } : undefined
}
