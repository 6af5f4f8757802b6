import { once } from "node:events"
import { expect } from "vitest"
import { WebSocket } from "ws"
import type { Clock } from "../../../core/shared/time/clock.ts"
import type { Model } from "../../../core/engine/model.ts"
import type { Scope } from "../../../core/protocol/account/sign-in.ts"
import { type ClientFrame, ServerFrame, type ServerFrameOf } from "../../../core/protocol/socket.ts"
import { listen } from "../../../core/server/listen.ts"
import { type TestDatabase } from "../databases.ts"
import { Face, type FaceOptions, Visitor } from "./face.ts"
import type { SeenFrame } from "./stream.ts"

export interface ServerOptions extends Partial<Omit<FaceOptions, "url">> {
  readonly database: TestDatabase
  readonly model: Model
  readonly clock?: Clock
  /** An existing database, for a second server. */
  readonly url?: string
}

/** A server with a port, for clients that use a socket. */
export async function openServer({ database, url: place, ...options }: ServerOptions) {
  const url = place ?? (await database.create()).url
  const face = await Face.open({ ...options, url })
  const listening = await listen((sent, env) => face.fetch(sent, env), { host: "127.0.0.1", port: 0 })
  const tokenFor = async (name: string, ...scopes: Scope[]) => {
    const { people } = face.store
    const granted: Scope[] = scopes.length > 0 ? scopes : ["read", "chat", "approve", "manage"]
    return (await people.createToken(await people.ensure(name, 0), granted, 0)).token
  }
  return {
    face,
    place: url,
    url: listening.url,
    tokenFor,
    /** A client that uses HTTP. */
    visitor: async (name: string, ...scopes: Scope[]) =>
      new Visitor((sent) => face.fetch(sent), await tokenFor(name, ...scopes)),
    /** A client that uses a socket. */
    socket: async (name: string, ...scopes: Scope[]) =>
      Peer.open(listening.url, { authorization: `Bearer ${await tokenFor(name, ...scopes)}` }),
    async [Symbol.asyncDispose]() {
      await listening.close(0)
      await face[Symbol.asyncDispose]()
    },
  }
}

/** The client end of a socket. Checks that every frame fits its schema. */
export class Peer implements Disposable {
  readonly socket: WebSocket
  readonly seen: ServerFrame[] = []
  closed: { code: number; reason: string } | undefined
  #wake: () => void = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as unknown
      // Parsing adds defaults, so store the frame as it was sent.
      ServerFrame.parse(frame)
      this.seen.push(frame as ServerFrame)
      this.#wake()
    })
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.#wake()
    })
    socket.on("error", () => {})
  }

  static async open(url: string, headers: Record<string, string>, protocols: string[] = []): Promise<Peer> {
    const peer = new Peer(new WebSocket(`${url.replace("http", "ws")}/api/ws`, protocols, { headers }))
    await once(peer.socket, "open")
    return peer
  }

  /** A text is sent as it is. */
  send(frame: ClientFrame | Record<string, unknown> | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame))
  }

  /** Resolves with the first frame after `from` of that type, once it is there. */
  async next<Type extends ServerFrame["type"]>(type: Type, from = 0): Promise<ServerFrameOf<Type>> {
    const is = (frame: ServerFrame): frame is ServerFrameOf<Type> => frame.type === type
    await this.until(() => this.seen.slice(from).some(is))
    return this.seen.slice(from).find(is) as ServerFrameOf<Type>
  }

  async until(enough: (seen: readonly ServerFrame[]) => boolean): Promise<void> {
    while (!enough(this.seen)) {
      if (this.closed) throw new Error(`closed with ${JSON.stringify(this.closed)} after ${JSON.stringify(this.seen)}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async close(): Promise<{ code: number; reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.closed
  }

  types(): string[] {
    return this.seen.map(({ type }) => type)
  }

  /** The text of all answers. */
  text(): string {
    return this.seen.map((frame) => (frame.type === "text_chunk" ? frame.text : "")).join("")
  }

  /** The frames inside `event`s, of one conversation or of the feed. */
  events(conversation?: string): SeenFrame[] {
    return this.seen.flatMap((frame) =>
      frame.type === "event" && frame.conversationId === conversation ? [frame.event as SeenFrame] : [],
    )
  }

  [Symbol.dispose](): void {
    this.socket.terminate()
  }
}

/** The status and code that an attempt to open a socket was refused with. */
export async function refusedWith(url: string, headers: Record<string, string>, protocols: string[] = []) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/ws`, protocols, { headers })
  socket.on("error", () => {})
  const [, response] = (await once(socket, "unexpected-response")) as [
    unknown,
    NodeJS.ReadableStream & { statusCode: number },
  ]
  let text = ""
  for await (const chunk of response) text += String(chunk)
  expect(text).not.toBe("")
  return { status: response.statusCode, code: (JSON.parse(text) as { code: string }).code }
}
