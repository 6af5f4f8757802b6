import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import { expect, test } from "vitest"
import { isKnownNow, Strangers } from "./connection-limits.ts"

/** A connection from an address; `destroyed` says whether it was thrown out. */
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

function enter(strangers: Strangers, count: number, address: string): Peer[] {
  const peers = Array.from({ length: count }, () => new Peer(address))
  for (const peer of peers) strangers.enter(asSocket(peer))
  return peers
}

const stay = (peers: readonly Peer[]) => peers.map(({ destroyed }) => !destroyed)

test("of one address the oldest go, and nobody else loses a connection to it", () => {
  const strangers = new Strangers({ limits })
  const others = enter(strangers, 2, "198.51.100.7")
  expect(stay(enter(strangers, 5, "::ffff:203.0.113.5"))).toEqual([false, false, true, true, true])
  expect(stay(others)).toEqual([true, true])
})

test("of all the oldest go, also where each comes from an address of its own", () => {
  const strangers = new Strangers({ limits })
  const peers = Array.from({ length: 10 }, (_, n) => enter(strangers, 1, `203.0.113.${n}`)).flat()
  expect(stay(peers)).toEqual([false, false, ...Array(8).fill(true)])
})

test("whoever has shown who they are is no stranger any more, and makes room", () => {
  const strangers = new Strangers({ limits })
  const known = enter(strangers, 3, "203.0.113.5")
  for (const peer of known) isKnownNow(asSocket(peer))
  expect(stay(enter(strangers, 3, "203.0.113.5"))).toEqual([true, true, true])
  expect(stay(known)).toEqual([true, true, true])
})

test("one that has gone makes room", () => {
  const strangers = new Strangers({ limits })
  const [gone, ...rest] = enter(strangers, 3, "203.0.113.5")
  gone?.destroy()
  enter(strangers, 1, "203.0.113.5")
  expect(stay(rest)).toEqual([true, true])
})

test("a proxy of ours and this machine speak for many: only the sum counts", () => {
  const strangers = new Strangers({ limits, trustedProxies: ["10.0.0.0/8"] })
  expect(stay(enter(strangers, 4, "10.1.2.3"))).toEqual([true, true, true, true])
  expect(stay(enter(strangers, 4, "::1"))).toEqual([true, true, true, true])
})
