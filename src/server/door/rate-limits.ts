import { hash } from "node:crypto"
import { type Clock, monotonicOf } from "../../agent/clock.ts"
import { failure } from "../../protocol/errors.ts"

/** How often somebody may ask. Kept in memory, so that no request waits for it; nodes that share a database tell each other. */
export interface RateLimits {
  /** Per person, all their credentials together. */
  readonly people: Buckets | undefined
  /** Per address: requests that nobody stands behind. They cannot use up what others may ask. */
  readonly strangers: Buckets | undefined
  /** Per address: tries of a sign-in link. */
  readonly signIns: Buckets | undefined
  /** Counts tries of a sign-in link once more, where nodes share a database: for all of them, and at once. */
  readonly shared?: Pick<SharedBuckets, "take">
}

/** What the nodes that share a database have counted together. Implemented in store/. */
export interface SharedBuckets {
  /** Adds what was used up here, and tells of everybody whose bucket has changed since. */
  exchange(used: readonly UsedUp[]): Promise<UsedUp[]>
  /** Uses one up at once; otherwise says in how many milliseconds there is one. */
  take(kind: string, who: string, eachMs: number): Promise<number>
}

/** `ms`: how long what somebody has used up takes to come back. */
export interface UsedUp {
  readonly kind: string
  readonly who: string
  readonly ms: number
}

const STRANGERS_PER_MINUTE = 120
const SIGN_INS_PER_MINUTE = 20
/** Beyond this the one who was quiet longest is forgotten: strangers can make up addresses, but not fill the memory. */
const MAX_BUCKETS = 10_000
const MINUTE = 60_000

export function createRateLimits(perMinute: number, clock: Clock, shared?: SharedBuckets): RateLimits {
  if (perMinute === 0) return { people: undefined, strangers: undefined, signIns: undefined }
  const isShared = shared !== undefined
  return {
    people: new Buckets(perMinute, clock, isShared),
    strangers: new Buckets(STRANGERS_PER_MINUTE, clock, isShared),
    signIns: new Buckets(SIGN_INS_PER_MINUTE, clock),
    ...(shared ? { shared } : {}),
  }
}

/** Takes one from somebody's bucket, or refuses with the time after which there is one again. */
export function spend(buckets: Buckets | undefined, key: string | undefined): void {
  const seconds = buckets?.take(toNetwork(key ?? ""))
  if (seconds) throw failure("too_many_requests", { seconds })
}

/**
 * One try of a sign-in link. Who can be refused here is; for the others the database is asked, as for the link itself: no
 * number of nodes allows more tries than one.
 */
export async function spendSignIn({ signIns, shared }: RateLimits, address: string | undefined): Promise<void> {
  spend(signIns, address)
  if (!signIns || !shared) return
  const ms = await shared.take("sign-ins", nameOf(toNetwork(address ?? "")), MINUTE / SIGN_INS_PER_MINUTE)
  if (ms > 0) throw failure("too_many_requests", { seconds: Math.ceil(ms / 1000) })
}

/** What is told to other nodes, and kept for a minute, names nobody. */
const nameOf = (key: string) => hash("sha256", key, "base64url").slice(0, 22)

/** Token buckets: a whole minute's worth at once, then as many as drip in. */
export class Buckets {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #buckets = new Map<string, { level: number; at: number }>()
  /** What was taken here and other nodes have not been told; undefined where there are none. */
  readonly #untold: Map<string, number> | undefined

  constructor(perMinute: number, clock: Clock, shared = false) {
    this.#perMinute = perMinute
    this.#clock = clock
    this.#untold = shared ? new Map() : undefined
  }

  /** Takes one; otherwise says in how many seconds there is one. */
  take(whose: string): number {
    const key = this.#untold ? nameOf(whose) : whose
    const now = monotonicOf(this.#clock)
    const { level, at } = this.#buckets.get(key) ?? { level: this.#perMinute, at: now }
    const filled = Math.min(this.#perMinute, level + (Math.max(0, now - at) * this.#perMinute) / MINUTE)
    this.#fill(key, filled >= 1 ? filled - 1 : filled)
    if (filled >= 1) this.#untold?.set(key, (this.#untold.get(key) ?? 0) + 1)
    return filled >= 1 ? 0 : Math.max(1, Math.ceil(((1 - filled) * MINUTE) / this.#perMinute / 1000))
  }

  /** What was taken since the last time, as the time in which it drips in again. Who gets it tells the others. */
  takeUsed(): { who: string; ms: number }[] {
    const used = [...(this.#untold ?? [])].map(([who, count]) => ({ who, ms: (count * MINUTE) / this.#perMinute }))
    this.#untold?.clear()
    return used
  }

  /** The others could not be told. */
  giveBack({ who, ms }: { who: string; ms: number }): void {
    if ((this.#untold?.size ?? 0) >= MAX_BUCKETS && !this.#untold?.has(who)) return
    this.#untold?.set(who, (this.#untold.get(who) ?? 0) + (ms * this.#perMinute) / MINUTE)
  }

  /** So much was taken at all nodes together, but for what was taken here and not told. */
  settle(who: string, ms: number): void {
    this.#fill(who, this.#perMinute - (ms * this.#perMinute) / MINUTE - (this.#untold?.get(who) ?? 0))
  }

  /** Written anew each time, so that the first of the map is the one that was quiet longest. */
  #fill(key: string, level: number): void {
    this.#buckets.delete(key)
    this.#buckets.set(key, { level, at: monotonicOf(this.#clock) })
    if (this.#buckets.size <= MAX_BUCKETS) return
    const oldest = this.#buckets.keys().next().value ?? ""
    this.#buckets.delete(oldest)
  }

  get size(): number {
    return this.#buckets.size
  }
}

/** One household has 2⁶⁴ IPv6 addresses, so a whole /64 shares one bucket. */
function toNetwork(key: string): string {
  const [front = "", back] = key.split("::")
  if (!key.includes(":")) return key
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":"))
  const [left, right] = [groupsOf(front), groupsOf(back ?? "")]
  const between = back === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  const groups = [...left, ...between, ...right].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")
}
