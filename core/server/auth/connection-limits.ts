import { EventEmitter } from "node:events"
import type { BlockList, Socket } from "node:net"
import { isTrusted, plainAddress, toBlockList } from "./origins.ts"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Most connections of clients that have not authenticated. */
export interface ConnectionLimits {
  /** Per address. Many people may share one, but they authenticate. */
  readonly each: number
  readonly inAll: number
}

const LIMITS: ConnectionLimits = { each: 128, inAll: 4096 }

/**
 * Bounds the connections of unauthenticated clients. If there are too many, the oldest is closed: a client that holds
 * connections to lock others out loses its own, and a new client can always connect to authenticate.
 */
export class UnauthenticatedConnections {
  readonly #limits: ConnectionLimits
  /**
   * Connections from this machine or through a trusted proxy count only towards the total, because many people share that
   * address.
   */
  readonly #shared: BlockList
  readonly #all = new Set<Socket>()
  readonly #byAddress = new Map<string, Set<Socket>>()

  constructor({
    trustedProxies = [],
    limits = LIMITS,
  }: {
    trustedProxies?: readonly string[]
    limits?: ConnectionLimits
  }) {
    this.#shared = toBlockList(trustedProxies)
    this.#shared.addSubnet("127.0.0.0", 8, "ipv4")
    this.#shared.addAddress("::1", "ipv6")
    this.#limits = limits
  }

  enter(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? "")
    const forget = () => this.#forget(socket, address)
    ;(socket as EventEmitter).once("close", forget).once(KNOWN, forget)
    this.#all.add(socket)
    bound(this.#all, this.#limits.inAll)
    if (isTrusted(this.#shared, address)) return
    const sameAddress = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, sameAddress.add(socket))
    bound(sameAddress, this.#limits.each)
  }

  #forget(socket: Socket, address: string): void {
    this.#all.delete(socket)
    const sameAddress = this.#byAddress.get(address)
    sameAddress?.delete(socket)
    if (sameAddress?.size === 0) this.#byAddress.delete(address)
  }
}

const KNOWN = Symbol("known")

/** Marks the peer of this socket as authenticated: it no longer counts. */
export function markAuthenticated(socket: object | undefined): void {
  if (socket instanceof EventEmitter) socket.emit(KNOWN)
}

/** Also removes the closed socket: its `close` event comes later. */
function bound(sockets: Set<Socket>, most: number): void {
  for (const oldest of sockets) {
    if (sockets.size <= most) return
    sockets.delete(oldest)
    oldest.destroy()
  }
}

/** More than any client sends on one connection before it reads an answer. */
const MAX_WAITING = 256

/**
 * Processes the requests of one connection one after another. Answers go out in that order anyway; without this, a client
 * that pipelines a thousand requests and reads nothing would have all of them computed at once and buffered in memory.
 */
export class RequestQueue {
  readonly #lines = new WeakMap<Socket, (() => void)[]>()

  /** Undefined if the request may start at once. Never resolves if the connection closes first. */
  enter({ socket }: IncomingMessage, answer: ServerResponse): Promise<void> | undefined {
    const waiting = this.#lines.get(socket)
    if (!waiting) {
      this.#lines.set(socket, [])
      this.#watch(socket, answer)
      return undefined
    }
    // An error could not be sent: the answers before it in the order are still open.
    if (waiting.length >= MAX_WAITING) socket.destroy()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(() => {
      this.#watch(socket, answer)
      resolve()
    })
    return promise
  }

  #watch(socket: Socket, answer: ServerResponse): void {
    answer.on("close", () => {
      const next = socket.destroyed ? undefined : this.#lines.get(socket)?.shift()
      if (next) next()
      else this.#lines.delete(socket)
    })
  }
}
