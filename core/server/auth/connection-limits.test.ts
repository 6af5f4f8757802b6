import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import { expect, test } from "vitest"
import { markAuthenticated, UnauthenticatedConnections } from "./connection-limits.ts"

/** A connection from an address; `destroyed` is set when it is closed for another. */
class Peer extends EventEmitter {
  readonly remoteAddress: string
  destroyed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.destroyed = true
    this.emit("close")
  }
}

const limits = { each: 3, inAll: 8 }
const asSocket = (peer: Peer) => peer as unknown as Socket

function enter(strangers: UnauthenticatedConnections, count: number, address: string): Peer[] {
  const peers = Array.from({ length: count }, () => new Peer(address))
  for (const peer of peers) strangers.enter(asSocket(peer))
  return peers
}

const stay = (peers: readonly Peer[]) => peers.map(({ destroyed }) => !destroyed)

test("beyond the limit of one address its oldest connections are closed, and no others", () => {
  const strangers = new UnauthenticatedConnections({ limits })
  const others = enter(strangers, 2, "198.51.100.7")
  expect(stay(enter(strangers, 5, "::ffff:203.0.113.5"))).toEqual([false, false, true, true, true])
  expect(stay(others)).toEqual([true, true])
})

test("beyond the total limit the oldest are closed, also if each has its own address", () => {
  const strangers = new UnauthenticatedConnections({ limits })
  const peers = Array.from({ length: 10 }, (_, n) => enter(strangers, 1, `203.0.113.${n}`)).flat()
  expect(stay(peers)).toEqual([false, false, ...Array(8).fill(true)])
})

test("an authenticated connection no longer counts and makes room", () => {
  const strangers = new UnauthenticatedConnections({ limits })
  const known = enter(strangers, 3, "203.0.113.5")
  for (const peer of known) markAuthenticated(asSocket(peer))
  expect(stay(enter(strangers, 3, "203.0.113.5"))).toEqual([true, true, true])
  expect(stay(known)).toEqual([true, true, true])
})

test("a closed connection makes room", () => {
  const strangers = new UnauthenticatedConnections({ limits })
  const [gone, ...rest] = enter(strangers, 3, "203.0.113.5")
  gone?.destroy()
  enter(strangers, 1, "203.0.113.5")
  expect(stay(rest)).toEqual([true, true])
})

test("our proxy and this machine stand for many clients: only the total counts", () => {
  const strangers = new UnauthenticatedConnections({ limits, trustedProxies: ["10.0.0.0/8"] })
  expect(stay(enter(strangers, 4, "10.1.2.3"))).toEqual([true, true, true, true])
  expect(stay(enter(strangers, 4, "::1"))).toEqual([true, true, true, true])
})
