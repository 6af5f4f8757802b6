import { hash } from "node:crypto"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { failure } from "../../protocol/errors.ts"
import type { Log } from "../../shared/log.ts"
import type { ServerResponse } from "node:http"
import type { UserId } from "../../protocol/ids.ts"

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

/** How often nodes tell each other what was asked of them. */
const EXCHANGE_MS = 1000

export interface SharedLimitsPorts {
  readonly requestsPerMinute: number
  readonly buckets: SharedBuckets
  readonly clock: Clock
  readonly log: Log
}

/**
 * Keeps the limits of this node in step with what is asked of the others. Each refuses by what it knows, without asking
 * anybody; what was allowed too much in the second in between is owed, and comes back that much later.
 */
export class SharedLimits implements AsyncDisposable {
  readonly limits: RateLimits
  readonly #ports: SharedLimitsPorts
  readonly #kinds: ReadonlyMap<string, Buckets>
  #exchanging: Promise<void> | undefined
  #cancel: () => void = () => {}
  #closed = false
  /** The last exchange failed, which is said once and not every second. */
  #failed = false

  constructor(ports: SharedLimitsPorts) {
    this.#ports = ports
    this.limits = createRateLimits(ports.requestsPerMinute, ports.clock, ports.buckets)
    const { people, strangers } = this.limits
    this.#kinds = new Map(Object.entries({ people, strangers }).flatMap(([kind, each]) => (each ? [[kind, each]] : [])))
    this.#wait()
  }

  /** Tells the others, and hears from them, now. */
  exchange(): Promise<void> {
    return (this.#exchanging ??= this.#exchange().finally(() => (this.#exchanging = undefined)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#cancel()
    await this.#exchanging
  }

  #wait(): void {
    const round = () => void this.exchange().then(() => this.#closed || this.#wait())
    this.#cancel = this.#ports.clock.alarm(EXCHANGE_MS, round, "background")
  }

  async #exchange(): Promise<void> {
    const used = [...this.#kinds].flatMap(([kind, each]) => each.takeUsed().map((one) => ({ kind, ...one })))
    try {
      for (const { kind, who, ms } of await this.#ports.buckets.exchange(used)) this.#kinds.get(kind)?.settle(who, ms)
      this.#failed = false
    } catch (error) {
      for (const { kind, ...one } of used) this.#kinds.get(kind)?.giveBack(one)
      if (!this.#failed) this.#ports.log.warn("limits_not_shared", { error })
      this.#failed = true
    }
  }
}

/** Bytes of answers that one person may leave unread. More than any program reads at once, far less than a server has. */
const MAX_UNREAD = 64 * 1024 * 1024
/** What counts at least for one that is sent piece by piece: what it is made of waits in memory behind it. */
const BEHIND_PIECES = 2 * 1024 * 1024
const SECONDS = 5

/**
 * Answers that were written and not read. Each is in memory until its reader has taken it, and who asks for many and reads
 * none would fill it: so nobody is answered further who has left too much. How long one may lie there says `listen.ts`.
 */
export class UnreadAnswers {
  readonly #most: number
  readonly #open = new Map<UserId, Set<ServerResponse>>()

  constructor(most = MAX_UNREAD) {
    this.#most = most
  }

  /** Throws `too_much_unread` where this person has to read first. */
  demandRoom(user: UserId): void {
    if (this.isFull(user)) throw failure("too_much_unread", { bytes: this.#most, seconds: SECONDS })
  }

  isFull(user: UserId): boolean {
    return this.bytesOf(user) > this.#most
  }

  /** What lies there. */
  bytesOf(user: UserId): number {
    let bytes = 0
    for (const answer of this.#open.get(user) ?? []) bytes += weightOf(answer)
    return bytes
  }

  /** To be told of every answer before it is written. Most are read by the time it is looked at them. */
  watch(user: UserId, answer: ServerResponse): void {
    setImmediate(() => {
      if (answer.writableFinished || answer.destroyed) return
      const open = this.#open.get(user) ?? new Set()
      this.#open.set(user, open.add(answer))
      answer.once("close", () => {
        open.delete(answer)
        if (open.size === 0 && this.#open.get(user) === open) this.#open.delete(user)
      })
    })
  }
}

function weightOf(answer: ServerResponse): number {
  const { writableLength, chunkedEncoding } = answer
  return writableLength > 0 && chunkedEncoding ? Math.max(writableLength, BEHIND_PIECES) : writableLength
}
