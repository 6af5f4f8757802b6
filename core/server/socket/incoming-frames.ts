import type { Duplex } from "node:stream"

/** A message that was skipped because it is too large. */
interface OversizedMessage {
  readonly bytes: number
  /** Its first and last characters: a result names its call in one of them. */
  readonly ends: string
}

interface SizeLimits {
  /** Most bytes of a message at the moment. Read at the header of each frame. */
  allowedBytes(): number
  /** Whether to skip a larger message, which reads and drops its bytes. False if the socket was closed. */
  onTooLarge(): boolean
  onSkipped(message: OversizedMessage): void
}

const HEAD_BYTES = 64 * 1024
const TAIL_BYTES = 4 * 1024
const FIRST_FRAGMENTS = Buffer.alloc(0)
/** An empty last frame, which ends a message whose first fragments were already passed on. */
const LAST_FRAME = Buffer.from([0x80, 0x80, 0, 0, 0, 0])

/**
 * Filters messages that are too large between a connection and its WebSocket parser. The parser has one fixed limit and
 * closes the connection for a larger message. Here the limit depends on whether a result is expected, and a larger result
 * fails one call instead of the connection. Only the ends of a skipped message are stored.
 */
export class IncomingFrames {
  limits: SizeLimits | undefined
  /** Set while the parser receives the artificial end of a message. */
  #isCutting = false
  #cutHead = ""
  readonly #next: (chunk: Buffer) => void
  /** An incomplete header. */
  #waiting: Buffer = FIRST_FRAGMENTS
  /** Bytes of the current frame's payload that have not arrived. */
  #left = 0
  #isSkipping = false
  #isLast = true
  /** Bytes of the current message so far, as its headers declare them. */
  #bytes = 0
  #message: Skipped | undefined
  /** Invalid frames: pass everything on, so that the parser closes the connection. */
  #isOff = false

  /** Replaces the parser's listener on `socket`; nothing may have been read yet. */
  constructor(socket: Duplex) {
    const parsers = socket.listeners("data") as ((chunk: Buffer) => void)[]
    socket.removeAllListeners("data")
    this.#next = (chunk) => {
      for (const parse of parsers) parse.call(socket, chunk)
    }
    socket.on("data", (chunk: Buffer) => this.#read(chunk))
  }

  /** Whether the parser emitted only the beginning of a message that was cut. */
  takeCut(message: Buffer): boolean {
    if (this.#isCutting) this.#cutHead = message.toString("utf8", 0, HEAD_BYTES)
    return this.#isCutting
  }

  #read(arrived: Buffer): void {
    const chunk = this.#waiting.length > 0 ? Buffer.concat([this.#waiting, arrived]) : arrived
    this.#waiting = FIRST_FRAGMENTS
    let passed = 0 // everything before this was passed on or skipped
    let at = 0
    while (at < chunk.length && !this.#isOff) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left)
        if (this.#isSkipping) {
          this.#message?.add(chunk.subarray(at, end))
          passed = end
        }
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#endFrame()
        continue
      }
      this.#isOff = isNonsense(chunk, at)
      if (this.#isOff) break
      const header = readHeader(chunk, at)
      if (!header) {
        if (at > passed) this.#next(chunk.subarray(passed, at))
        this.#waiting = Buffer.from(chunk.subarray(at))
        return
      }
      if (this.#begin(header)) {
        if (at > passed) this.#next(chunk.subarray(passed, at))
        if (this.#message?.isCut) this.#cut(this.#message)
        passed = at + header.size
      }
      at += header.size
      if (this.#left === 0) this.#endFrame()
    }
    const end = this.#isOff ? chunk.length : at
    if (end > passed) this.#next(passed === 0 ? chunk : chunk.subarray(passed, end))
  }

  /** Starts a frame. Returns whether it is skipped. */
  #begin({ opcode, isLast, length, mask }: Header): boolean {
    this.#left = length
    this.#isSkipping = false
    if (opcode > 2) return false // control frames may come between the fragments of a message
    this.#isLast = isLast
    if (opcode !== 0) {
      this.#bytes = 0
      this.#message = undefined
    }
    const before = this.#bytes
    this.#bytes += length
    if (!this.#message && this.limits && this.#bytes > this.limits.allowedBytes())
      this.#message = new Skipped(this.limits.onTooLarge(), opcode === 0 && before > 0)
    this.#message?.begin(mask)
    this.#isSkipping = this.#message !== undefined
    return this.#isSkipping
  }

  #cut(message: Skipped): void {
    message.isCut = false
    this.#isCutting = true
    this.#next(LAST_FRAME)
    this.#isCutting = false
  }

  #endFrame(): void {
    if (!this.#isSkipping || !this.#isLast) return
    this.#isSkipping = false
    const message = this.#message
    this.#message = undefined
    if (message?.isWanted) this.limits?.onSkipped({ bytes: this.#bytes, ends: this.#cutHead + message.ends })
    this.#bytes = 0
    this.#cutHead = ""
  }
}

/** Stores the two ends of a skipped message. */
class Skipped {
  readonly isWanted: boolean
  /** Its first fragments were passed on, so the parser waits for more. */
  isCut: boolean
  readonly #head: Buffer[] = []
  #headLeft = HEAD_BYTES
  #tail: Buffer = FIRST_FRAGMENTS
  #mask: Buffer | undefined
  #offset = 0

  constructor(isWanted: boolean, isCut: boolean) {
    this.isWanted = isWanted
    this.isCut = isCut
  }

  get ends(): string {
    return `${Buffer.concat(this.#head).toString()} … ${this.#tail.toString()}`
  }

  begin(mask: Buffer | undefined): void {
    this.#mask = mask
    this.#offset = 0
  }

  add(bytes: Buffer): void {
    const head = bytes.subarray(0, this.#headLeft)
    if (head.length > 0) this.#head.push(this.#unmask(head, this.#offset))
    this.#headLeft -= head.length
    const tail = bytes.subarray(-TAIL_BYTES)
    const plain = this.#unmask(tail, this.#offset + bytes.length - tail.length)
    this.#tail = Buffer.concat([this.#tail, plain]).subarray(-TAIL_BYTES)
    this.#offset += bytes.length
  }

  #unmask(bytes: Buffer, offset: number): Buffer {
    const mask = this.#mask
    return mask ? Buffer.from(bytes.map((byte, index) => byte ^ (mask[(offset + index) & 3] ?? 0))) : Buffer.from(bytes)
  }
}

interface Header {
  readonly opcode: number
  readonly isLast: boolean
  /** Bytes of the header itself. */
  readonly size: number
  readonly length: number
  readonly mask: Buffer | undefined
}

/** Reserved bits, a reserved opcode, or a control frame that is too large. */
function isNonsense(chunk: Buffer, at: number): boolean {
  const [first = 0, second = 0] = [chunk[at], chunk[at + 1]]
  const opcode = first & 15
  return (first & 0x70) !== 0 || (opcode > 2 && opcode < 8) || opcode > 10 || (opcode > 7 && (second & 127) > 125)
}

/** RFC 6455, 5.2. Undefined if it is incomplete. */
function readHeader(chunk: Buffer, at: number): Header | undefined {
  const [first, second] = [chunk[at], chunk[at + 1]]
  if (first === undefined || second === undefined) return undefined
  const short = second & 127
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0
  const isMasked = (second & 128) !== 0
  const size = 2 + wide + (isMasked ? 4 : 0)
  if (chunk.length < at + size) return undefined
  const length = wide === 0 ? short : wide === 2 ? chunk.readUInt16BE(at + 2) : Number(chunk.readBigUInt64BE(at + 2))
  const mask = isMasked ? Buffer.from(chunk.subarray(at + size - 4, at + size)) : undefined
  return { opcode: first & 15, isLast: (first & 128) !== 0, size, length, mask }
}
