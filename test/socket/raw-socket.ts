import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"

type Json = Record<string, unknown> & { readonly type?: string }

/**
 * A client that knows the WebSocket protocol from its RFC and six frame types from their description. It uses no code of
 * ours and no library, so it shows what a program in another language sees.
 */
export class RawSocket implements Disposable {
  readonly seen: Json[] = []
  closed: { code: number } | undefined
  /** Answers tool calls as they arrive. */
  answer: ((call: Json) => object | undefined) | undefined
  readonly #socket: Socket
  #data: Buffer = Buffer.alloc(0)
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on("data", (chunk: Buffer) => this.#read(chunk))
    socket.on("close", () => this.#end({ code: 1006 }))
    socket.on("error", () => {})
  }

  static async open(url: string, token: string): Promise<RawSocket> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    const key = randomBytes(16).toString("base64")
    const lines = [
      ...["GET /api/ws HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket"],
      ...["Sec-WebSocket-Version: 13", `Sec-WebSocket-Key: ${key}`, `Authorization: Bearer ${token}`],
    ]
    socket.write(`${lines.join("\r\n")}\r\n\r\n`)
    const [head] = (await once(socket, "data")) as [Buffer]
    if (!head.toString().startsWith("HTTP/1.1 101")) throw new Error(head.toString())
    return new RawSocket(socket)
  }

  send(frame: object | string): void {
    this.sendPieces([typeof frame === "string" ? frame : JSON.stringify(frame)])
  }

  /** One message in several fragments. */
  sendPieces(pieces: readonly string[]): void {
    for (const [index, piece] of pieces.entries()) {
      const isLast = index === pieces.length - 1
      this.#write((isLast ? 0x80 : 0) | (index === 0 ? 1 : 0), Buffer.from(piece))
    }
  }

  /** Returns the first frame of that type after `from`, once it has arrived. */
  async next(type: string, from = 0): Promise<Json> {
    for (;;) {
      const found = this.seen.slice(from).find((frame) => frame.type === type)
      if (found) return found
      if (this.closed)
        throw new Error(`closed with ${this.closed.code} after ${JSON.stringify(this.seen).slice(0, 2000)}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async close(): Promise<{ code: number }> {
    while (!this.closed) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.closed
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #write(first: number, payload: Buffer): void {
    const { length } = payload
    const size = length < 126 ? Buffer.from([0x80 | length]) : Buffer.alloc(length < 65_536 ? 3 : 9)
    if (size.length === 3) size.writeUInt16BE(length, 1)
    if (size.length === 9) size.writeBigUInt64BE(BigInt(length), 1)
    if (size.length > 1) size[0] = 0x80 | (size.length === 3 ? 126 : 127)
    const mask = randomBytes(4)
    const masked = Buffer.from(payload)
    for (let at = 0; at < length; at++) masked[at]! ^= mask[at & 3]!
    this.#socket.write(Buffer.concat([Buffer.from([first]), size, mask, masked]))
  }

  /** A server's frames are not masked. */
  #read(chunk: Buffer): void {
    this.#data = Buffer.concat([this.#data, chunk])
    for (;;) {
      if (this.#data.length < 2) return
      const opcode = this.#data[0]! & 15
      const short = this.#data[1]! & 127
      const start = short < 126 ? 2 : short === 126 ? 4 : 10
      if (this.#data.length < start) return
      const length =
        short < 126 ? short : short === 126 ? this.#data.readUInt16BE(2) : Number(this.#data.readBigUInt64BE(2))
      if (this.#data.length < start + length) return
      const payload = this.#data.subarray(start, start + length)
      this.#data = this.#data.subarray(start + length)
      if (opcode === 1) this.#take(JSON.parse(payload.toString()) as Json)
      else if (opcode === 8) this.#end({ code: payload.length < 2 ? 1005 : payload.readUInt16BE(0) })
      else if (opcode === 9) this.#write(0x8a, Buffer.from(payload))
      this.#wake()
    }
  }

  #take(frame: Json): void {
    this.seen.push(frame)
    const answer = frame.type === "tool_call" ? this.answer?.(frame) : undefined
    if (answer) this.send({ type: "tool_result", id: frame.id, ...answer })
  }

  #end(closed: { code: number }): void {
    this.closed ??= closed
    this.#wake()
  }
}
