import { failure } from "../../protocol/errors.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { ClientFrameOf, ServerFrameOf } from "../../protocol/socket.ts"
import { requireScopeOf } from "../auth/caller.ts"
import { writingTurns } from "../stream/event-stream.ts"
import type { WaitingSource, SentFrame } from "../stream/frame-source.ts"
import { subscribe, toStreamCursor } from "../stream/open-stream.ts"
import { Feed } from "../stream/feed.ts"
import { conversationOf } from "../conversation/find.ts"
import type { SocketPorts } from "./chat-conversation.ts"
import type { Caller } from "../auth/credentials.ts"
import type { JsonSocket } from "./json-socket.ts"

/** Most watched conversations of one socket. */
const MAX = 64

type Watched = ConversationId | undefined

/** The conversations and the feed that a socket watches, each pulled from its source as fast as the peer reads. */
export class SocketStreams {
  readonly #ports: SocketPorts
  readonly #caller: Caller
  readonly #socket: JsonSocket
  readonly #sources = new Map<Watched, WaitingSource>()
  /** Releases each place among the open streams. */
  readonly #places: (() => void)[] = []
  #over = false

  constructor(ports: SocketPorts, caller: Caller, socket: JsonSocket) {
    this.#ports = ports
    this.#caller = caller
    this.#socket = socket
  }

  async attach({ conversationId, after }: ClientFrameOf<"attach">): Promise<void> {
    requireScopeOf(this.#caller, "read")
    this.detach(conversationId) // it continues from the new cursor
    if (this.#sources.size >= MAX) throw failure("too_many", { what: "attachments", most: MAX })
    if (this.#sources.size > 0) this.#ports.streams.admit(this.#caller)
    const source = await this.#open(conversationId, after)
    if (this.#over) return source.close()
    this.#sources.set(conversationId, source)
    this.#count()
    void this.#pump(conversationId, source)
  }

  detach(conversationId: Watched): void {
    const source = this.#sources.get(conversationId)
    this.#sources.delete(conversationId)
    source?.close()
    this.#count()
  }

  close(): void {
    this.#over = true
    for (const source of this.#sources.values()) source.close()
    this.#sources.clear()
    this.#count()
  }

  /**
   * Each watched conversation counts as an open stream, so that a thousand sockets are not 64,000 watchers. The socket's own
   * place covers the first. Revocation closes the socket, and so all of them.
   */
  #count(): void {
    const places = Math.max(0, this.#sources.size - 1)
    while (this.#places.length < places) this.#places.push(this.#ports.streams.register(this.#caller, () => {}))
    while (this.#places.length > places) this.#places.pop()?.()
  }

  async #open(id: Watched, after: string | undefined): Promise<WaitingSource> {
    const user = this.#caller.person.id
    if (!id) return new Feed(this.#ports, user)
    const place = toStreamCursor(after, await conversationOf(this.#ports, user, id))
    // A client with a cursor has watched before, and may have missed an end without a position of its own.
    return subscribe(this.#ports, { id, after: place, cutOff: place.position > 0 })
  }

  async #pump(id: Watched, source: WaitingSource): Promise<void> {
    let problem: unknown = failure("not_found")
    try {
      while (await source.wait()) {
        const take = async () => {
          const turn = writingTurns.enter(this.#caller.person.id)
          if (turn) await turn
          const frames = await source.take()
          return this.#sources.get(id) === source ? frames.map((frame) => toEvent(id, frame)) : []
        }
        if (!(await this.#socket.pull(take))) return
      }
    } catch (error) {
      problem = error
      this.#ports.log.warn("attachment_failed", { error })
    } finally {
      source.close()
    }
    if (this.#sources.get(id) !== source) return
    // It ended by itself: erased, or the store failed. The client may attach again with its cursor.
    this.detach(id)
    this.#socket.fail(problem, id)
  }
}

function toEvent(conversationId: Watched, { id, type, data }: SentFrame): ServerFrameOf<"event"> {
  return { type: "event", ...(conversationId ? { conversationId } : {}), event: { id, type, data } }
}
