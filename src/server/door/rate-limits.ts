import type { Clock } from "../../agent/clock.ts"
import { failure } from "../../protocol/errors.ts"

/** How often somebody may ask. Kept in memory: a restart forgives, and nodes count each for itself. */
export interface RateLimits {
  /** Per person, all their credentials together. */
  readonly people: Buckets | undefined
  /** Per address: requests that nobody stands behind. They cannot use up what others may ask. */
  readonly strangers: Buckets | undefined
  /** Per address: tries of a sign-in link. */
  readonly signIns: Buckets | undefined
}

const STRANGERS_PER_MINUTE = 120
const SIGN_INS_PER_MINUTE = 20
/** Beyond this the one who was quiet longest is forgotten: strangers can make up addresses, but not fill the memory. */
const MAX_BUCKETS = 10_000
const MINUTE = 60_000

export function createRateLimits(perMinute: number, clock: Clock): RateLimits {
  if (perMinute === 0) return { people: undefined, strangers: undefined, signIns: undefined }
  return {
    people: new Buckets(perMinute, clock),
    strangers: new Buckets(STRANGERS_PER_MINUTE, clock),
    signIns: new Buckets(SIGN_INS_PER_MINUTE, clock),
  }
}

/** Takes one from somebody's bucket, or refuses with the time after which there is one again. */
export function spend(buckets: Buckets | undefined, key: string | undefined): void {
  const seconds = buckets?.take(toNetwork(key ?? ""))
  if (seconds) throw failure("too_many_requests", { seconds })
}

/** Token buckets: a whole minute's worth at once, then as many as drip in. */
export class Buckets {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #buckets = new Map<string, { level: number; at: number }>()

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Takes one; otherwise says in how many seconds there is one. */
  take(key: string): number {
    const now = this.#clock.now()
    const { level, at } = this.#buckets.get(key) ?? { level: this.#perMinute, at: now }
    const filled = Math.min(this.#perMinute, level + (Math.max(0, now - at) * this.#perMinute) / MINUTE)
    // Written anew each time, so that the first of the map is the one that was quiet longest.
    this.#buckets.delete(key)
    this.#buckets.set(key, { level: filled >= 1 ? filled - 1 : filled, at: now })
    if (this.#buckets.size > MAX_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value ?? "")
    return filled >= 1 ? 0 : Math.max(1, Math.ceil(((1 - filled) * MINUTE) / this.#perMinute / 1000))
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
