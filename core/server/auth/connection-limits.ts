import { EventEmitter } from "node:events"
import type { BlockList, Socket } from "node:net"
import { isTrusted, plainAddress, toBlockList } from "./origins.ts"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Connections of whoever has not shown yet who they are. */
export interface StrangerLimits {
  /** From one address. Many people may share one, but they say who they are. */
  readonly each: number
  readonly inAll: number
}

const LIMITS: StrangerLimits = { each: 128, inAll: 4096 }

/**
 * Bounds what strangers hold open. Where there are too many, the oldest goes: whoever keeps connections in order to keep
 * others out only loses their own, and somebody new is always let in to say who they are.
 */
export class Strangers {
  readonly #limits: StrangerLimits
  /** What runs on this machine, and what a proxy of ours speaks for, is counted in all and not by its address. */
  readonly #shared: BlockList
  readonly #all = new Set<Socket>()
  readonly #byAddress = new Map<string, Set<Socket>>()

  constructor({
    trustedProxies = [],
    limits = LIMITS,
  }: {
    trustedProxies?: readonly string[]
    limits?: StrangerLimits
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
    const beside = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, beside.add(socket))
    bound(beside, this.#limits.each)
  }

  #forget(socket: Socket, address: string): void {
    this.#all.delete(socket)
    const beside = this.#byAddress.get(address)
    beside?.delete(socket)
    if (beside?.size === 0) this.#byAddress.delete(address)
  }
}

const KNOWN = Symbol("known")

/** Says that the peer of this socket has authenticated: it no longer counts as a stranger. */
export function isKnownNow(socket: object | undefined): void {
  if (socket instanceof EventEmitter) socket.emit(KNOWN)
}

/** What is destroyed is taken out here as well: its `close` comes later. */
function bound(sockets: Set<Socket>, most: number): void {
  for (const oldest of sockets) {
    if (sockets.size <= most) return
    sockets.delete(oldest)
    oldest.destroy()
  }
}

/** More than any client has under way over one connection before it reads what it is answered. */
const MAX_WAITING = 256

/**
 * The requests of one connection, each begun when the answer to the one before has gone out. Answers go out in that order
 * anyhow: whoever sends a thousand requests without reading would have all of them made in one turn of everybody's, to wait
 * in memory.
 */
export class OneByOne {
  readonly #lines = new WeakMap<Socket, (() => void)[]>()

  /** Undefined for a request that may begin at once. Of those whose connection closes meanwhile nothing is heard again. */
  enter({ socket }: IncomingMessage, answer: ServerResponse): Promise<void> | undefined {
    const waiting = this.#lines.get(socket)
    if (!waiting) {
      this.#lines.set(socket, [])
      this.#watch(socket, answer)
      return undefined
    }
    // There is no telling them: what stands before it in the order has not been answered.
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
