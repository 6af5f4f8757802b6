import { EventEmitter } from "node:events"
import { type BlockList, type Socket } from "node:net"
import { isTrusted, plainAddress, toBlockList } from "./trusted-proxies.ts"

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
