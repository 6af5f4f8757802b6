import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from "node:crypto"

/** A master key as the bus sees it: only keys that are derived from it encrypt messages. */
export interface BusKey {
  readonly id: string
  readonly key: KeyObject
}

/** The master keys of this process. */
export interface BusKeys {
  /** The key that the database is under. Every node of the cluster can open what is encrypted under it. */
  current(): Promise<BusKey>
  /** All keys that this process has: two while a rotation is under way. */
  all(): Promise<readonly BusKey[]>
}

/** Why a message was refused. */
export type RefusalReason = "not encrypted" | "another key" | "forged" | "replayed"

export type OpenedMessage =
  | { readonly text: string }
  | { readonly refused: RefusalReason; readonly sender: string }
  /** A broadcast that may be a recorded one: its sender has not sent anything to this process alone. */
  | { readonly unmet: true; readonly sender: string }

/**
 * How a message reached this process, and so how far it can be a recorded one.
 * - `direct`: to the name that this process drew when it started, so the message was written since then.
 * - `broadcast`: to all, so it counts only if it was written after a direct message of the same sender.
 * - `receipt`: names the message that it confirms, so it is of use only to the process that sent that one.
 */
export type MessageKind = "direct" | "broadcast" | "receipt"

interface Header {
  readonly keyId: string
  readonly sender: string
  readonly epoch: string
  readonly counter: number
}

const CIPHER = "aes-256-gcm"
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16]
const VERSION = "pawl1"
const HEADER = /^pawl1 ([0-9a-f]{1,64}) ([\w-]{1,100}) ([0-9a-f]{32}) ([1-9]\d{0,15})$/
const UNENCRYPTED = /^\{"from":"([\w-]{1,100})"/
/** A message is longer than its text by at most these bytes: the longest header, a line end and the tag. */
export const MAX_OVERHEAD: number = 256
/** The most positions by which messages may overtake each other when NATS moves a connection to another server. */
const WINDOW = 256
/** Senders whose keys and windows are cached. Each restart of a node is a new sender. */
const MAX_SENDERS = 10_000

/**
 * Encrypts and authenticates the messages between nodes. The key of each sender is derived from the master key, the
 * cluster, the sender's id and a number that the sender draws when it starts; its nonce is a counter, so no nonce is ever
 * used twice under one key. The recipient is authenticated too: a message that was sent to one subject opens at no other.
 */
export class MessageCipher {
  readonly #keys: BusKeys
  readonly #cluster: string
  readonly #self: string
  readonly #epoch = randomBytes(16).toString("hex")
  readonly #known = new Map<string, BusKey>()
  readonly #senders = new Map<string, Sender>()
  #current: { readonly keyId: string; readonly key: Buffer } | undefined
  #counter = 0

  constructor(keys: BusKeys, { cluster, self }: { readonly cluster: string; readonly self: string }) {
    this.#keys = keys
    this.#cluster = cluster
    this.#self = self
  }

  /** Reads which keys there are and which one the database is under. Must have resolved once before anything is encrypted. */
  async refresh(): Promise<void> {
    const [current, all] = await Promise.all([this.#keys.current(), this.#keys.all()])
    const keys = [...all, current]
    this.#known.clear()
    for (const key of keys) this.#known.set(key.id, key)
    if (this.#current?.keyId !== current.id)
      this.#current = { keyId: current.id, key: this.#derive(current, this.#self, this.#epoch) }
    for (const [id, { keyId }] of this.#senders) if (!this.#known.has(keyId)) this.#senders.delete(id)
  }

  encrypt(recipient: string, text: string): Buffer {
    if (!this.#current) throw new Error("The keys of the bus are not loaded yet.")
    const { keyId, key } = this.#current
    const header = { keyId, sender: this.#self, epoch: this.#epoch, counter: ++this.#counter }
    const cipher = createCipheriv(CIPHER, key, nonceOf(header), { authTagLength: TAG_BYTES })
    cipher.setAAD(this.#binding(header, recipient))
    const line = Buffer.from(`${VERSION} ${keyId} ${this.#self} ${this.#epoch} ${header.counter}\n`)
    return Buffer.concat([line, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
  }

  /** The text of a message, once. Never throws: what cannot be opened is refused, with the name that its sender claims. */
  open(recipient: string, bytes: Uint8Array, kind: MessageKind = "direct"): OpenedMessage {
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const header = readHeader(data)
    if (!header) {
      const sender = UNENCRYPTED.exec(data.toString("latin1", 0, MAX_OVERHEAD))?.[1]
      return sender === undefined ? { refused: "forged", sender: "" } : { refused: "not encrypted", sender }
    }
    const { sender, keyId } = header
    const master = this.#known.get(keyId)
    if (!master) return { refused: "another key", sender }
    const id = `${keyId} ${sender} ${header.epoch}`
    const known = this.#senders.get(id)
    const key = known?.key ?? this.#derive(master, sender, header.epoch)
    const text = this.#decrypt(data, { header, recipient, key })
    if (text === undefined) return { refused: "forged", sender }
    if (kind === "receipt") return { text }
    const { counter } = header
    if (kind === "broadcast" && !(known && counter > known.since)) return { unmet: true, sender }
    // Stored only for a sender that runs now: recorded messages could otherwise fill the memory with senders of the past.
    const window =
      known ?? this.#remember(id, { keyId, key, since: counter, highest: 0, seen: new Float64Array(WINDOW) })
    return isFresh(window, counter) ? { text } : { refused: "replayed", sender }
  }

  #decrypt(data: Buffer, { header, recipient, key }: { header: Header; recipient: string; key: Buffer }) {
    const start = data.indexOf(0x0a) + 1
    const end = data.length - TAG_BYTES
    if (end < start) return undefined
    const cipher = createDecipheriv(CIPHER, key, nonceOf(header), { authTagLength: TAG_BYTES })
    cipher.setAAD(this.#binding(header, recipient)).setAuthTag(data.subarray(end))
    try {
      return Buffer.concat([cipher.update(data.subarray(start, end)), cipher.final()]).toString("utf8")
    } catch {
      return undefined
    }
  }

  #remember(id: string, sender: Sender): Sender {
    this.#senders.set(id, sender)
    if (this.#senders.size > MAX_SENDERS) this.#senders.delete(this.#senders.keys().next().value as string)
    return sender
  }

  #derive({ key }: BusKey, sender: string, epoch: string): Buffer {
    const info = JSON.stringify(["pawl bus 1", this.#cluster, sender, epoch])
    return Buffer.from(hkdfSync("sha256", key, this.#cluster, info, KEY_BYTES))
  }

  /** JSON, because fields that are merely joined could be divided in another way and mean another message. */
  #binding({ keyId, sender, epoch, counter }: Header, recipient: string): Buffer {
    return Buffer.from(JSON.stringify([VERSION, this.#cluster, keyId, sender, epoch, recipient, counter]))
  }
}

/** One start of a node, as its messages arrive here. */
interface Sender {
  readonly keyId: string
  readonly key: Buffer
  /** The counter of its first direct message: what it sent later, it sent while this process was running. */
  readonly since: number
  highest: number
  /** The counter that was last received at its index. */
  readonly seen: Float64Array
}

/** True once for each counter, and never for one that is too old to know. */
function isFresh(sender: Sender, counter: number): boolean {
  const place = counter % WINDOW
  if (counter <= sender.highest - WINDOW || sender.seen[place] === counter) return false
  sender.seen[place] = counter
  sender.highest = Math.max(sender.highest, counter)
  return true
}

function readHeader(data: Buffer): Header | undefined {
  const end = data.subarray(0, MAX_OVERHEAD).indexOf(0x0a)
  const found = end < 0 ? null : HEADER.exec(data.toString("latin1", 0, end))
  if (!found) return undefined
  const [, keyId = "", sender = "", epoch = "", digits] = found
  const counter = Number(digits)
  return Number.isSafeInteger(counter) ? { keyId, sender, epoch, counter } : undefined
}

function nonceOf({ counter }: Header): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeBigUInt64BE(BigInt(counter), NONCE_BYTES - 8)
  return nonce
}
