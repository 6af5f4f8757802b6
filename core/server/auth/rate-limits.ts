import { hash } from "node:crypto"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { failure } from "../../protocol/errors.ts"
import type { Log } from "../../shared/log.ts"
import type { ServerResponse } from "node:http"
import type { UserId } from "../../protocol/ids.ts"

/**
 * Limits how often clients may call. Kept in memory, so that no request waits for it; nodes that share a database
 * exchange their counts.
 */
export interface RateLimits {
  /** Per person, over all credentials. */
  readonly people: Buckets | undefined
  /** Per address: requests without a valid credential. They do not use up what authenticated people may send. */
  readonly strangers: Buckets | undefined
  /** Per address: attempts to use a sign-in link. */
  readonly signIns: Buckets | undefined
  /** Counts attempts at sign-in links a second time for all nodes at once, if nodes share a database. */
  readonly shared?: Pick<SharedBuckets, "take">
}

/** Counts shared by the nodes of one database. Implemented in store/. */
interface SharedBuckets {
  /** Adds what this node counted, and returns every bucket that changed since the last exchange. */
  exchange(used: readonly UsedUp[]): Promise<UsedUp[]>
  /** Takes one at once. Returns 0, or the milliseconds until one is available. */
  take(kind: string, who: string, eachMs: number): Promise<number>
}

/** `ms`: how long until the used amount has been refilled. */
interface UsedUp {
  readonly kind: string
  readonly who: string
  readonly ms: number
}

const UNAUTHENTICATED_PER_MINUTE = 120
const SIGN_INS_PER_MINUTE = 20
/** Beyond this the bucket that was idle longest is dropped, so that made-up addresses cannot fill the memory. */
const MAX_BUCKETS = 10_000
const MINUTE = 60_000

export function createRateLimits(perMinute: number, clock: Clock, shared?: SharedBuckets): RateLimits {
  if (perMinute === 0) return { people: undefined, strangers: undefined, signIns: undefined }
  const isShared = shared !== undefined
  return {
    people: new Buckets(perMinute, clock, isShared),
    strangers: new Buckets(UNAUTHENTICATED_PER_MINUTE, clock, isShared),
    signIns: new Buckets(SIGN_INS_PER_MINUTE, clock),
    ...(shared ? { shared } : {}),
  }
}

/** Takes one from a bucket. Throws `too_many_requests` with the seconds until one is available. */
export function spend(buckets: Buckets | undefined, key: string | undefined): void {
  const seconds = buckets?.take(toNetwork(key ?? ""))
  if (seconds) throw failure("too_many_requests", { seconds })
}

/**
 * Counts one attempt at a sign-in link. Refused locally if possible; otherwise the database counts it, so that several
 * nodes together allow no more attempts than one.
 */
export async function spendSignIn({ signIns, shared }: RateLimits, address: string | undefined): Promise<void> {
  spend(signIns, address)
  if (!signIns || !shared) return
  const ms = await shared.take("sign-ins", nameOf(toNetwork(address ?? "")), MINUTE / SIGN_INS_PER_MINUTE)
  if (ms > 0) throw failure("too_many_requests", { seconds: Math.ceil(ms / 1000) })
}

/** Hashed, because other nodes see it and it is stored for a minute. */
const nameOf = (key: string) => hash("sha256", key, "base64url").slice(0, 22)

/** Token buckets: a whole minute's worth at once, then refilled evenly. */
export class Buckets {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #buckets = new Map<string, { level: number; at: number }>()
  /** Taken here and not yet reported to other nodes; undefined without other nodes. */
  readonly #unreported: Map<string, number> | undefined

  constructor(perMinute: number, clock: Clock, shared = false) {
    this.#perMinute = perMinute
    this.#clock = clock
    this.#unreported = shared ? new Map() : undefined
  }

  /** Takes one. Returns 0, or the seconds until one is available. */
  take(whose: string): number {
    const key = this.#unreported ? nameOf(whose) : whose
    const now = monotonicOf(this.#clock)
    const { level, at } = this.#buckets.get(key) ?? { level: this.#perMinute, at: now }
    const filled = Math.min(this.#perMinute, level + (Math.max(0, now - at) * this.#perMinute) / MINUTE)
    this.#fill(key, filled >= 1 ? filled - 1 : filled)
    if (filled >= 1) this.#unreported?.set(key, (this.#unreported.get(key) ?? 0) + 1)
    return filled >= 1 ? 0 : Math.max(1, Math.ceil(((1 - filled) * MINUTE) / this.#perMinute / 1000))
  }

  /**
   * Returns and clears what was taken since the last call, as refill times. The caller must report it to the other nodes.
   */
  takeUnreported(): { who: string; ms: number }[] {
    const used = [...(this.#unreported ?? [])].map(([who, count]) => ({ who, ms: (count * MINUTE) / this.#perMinute }))
    this.#unreported?.clear()
    return used
  }

  /** Reverts `takeUnreported` if the report failed. */
  restoreUnreported({ who, ms }: { who: string; ms: number }): void {
    if ((this.#unreported?.size ?? 0) >= MAX_BUCKETS && !this.#unreported?.has(who)) return
    this.#unreported?.set(who, (this.#unreported.get(who) ?? 0) + (ms * this.#perMinute) / MINUTE)
  }

  /** Sets a bucket to the total of all nodes, minus what was taken here since and is not yet reported. */
  setTotal(who: string, ms: number): void {
    this.#fill(who, this.#perMinute - (ms * this.#perMinute) / MINUTE - (this.#unreported?.get(who) ?? 0))
  }

  /** Deleted and inserted again, so that the map is ordered by last use. */
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

/** A household has 2⁶⁴ IPv6 addresses, so each /64 shares one bucket. */
function toNetwork(key: string): string {
  const [front = "", back] = key.split("::")
  if (!key.includes(":")) return key
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":"))
  const [left, right] = [groupsOf(front), groupsOf(back ?? "")]
  const between = back === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  const groups = [...left, ...between, ...right].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")
}

const EXCHANGE_MS = 1000

interface SharedLimitsPorts {
  readonly requestsPerMinute: number
  readonly buckets: SharedBuckets
  readonly clock: Clock
  readonly log: Log
}

/**
 * Synchronises the limits of this node with the other nodes. Each node refuses by what it knows; an excess of the last
 * second is paid back later.
 */
export class SharedLimits implements AsyncDisposable {
  readonly limits: RateLimits
  readonly #ports: SharedLimitsPorts
  readonly #kinds: ReadonlyMap<string, Buckets>
  #exchanging: Promise<void> | undefined
  #cancel: () => void = () => {}
  #closed = false
  /** Set after a failed exchange, so that a repeated failure is logged once. */
  #failed = false

  constructor(ports: SharedLimitsPorts) {
    this.#ports = ports
    this.limits = createRateLimits(ports.requestsPerMinute, ports.clock, ports.buckets)
    const { people, strangers } = this.limits
    this.#kinds = new Map(Object.entries({ people, strangers }).flatMap(([kind, each]) => (each ? [[kind, each]] : [])))
    this.#wait()
  }

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
    const used = [...this.#kinds].flatMap(([kind, each]) => each.takeUnreported().map((one) => ({ kind, ...one })))
    try {
      for (const { kind, who, ms } of await this.#ports.buckets.exchange(used)) this.#kinds.get(kind)?.setTotal(who, ms)
      this.#failed = false
    } catch (error) {
      for (const { kind, ...one } of used) this.#kinds.get(kind)?.restoreUnreported(one)
      if (!this.#failed) this.#ports.log.warn("limits_not_shared", { error })
      this.#failed = true
    }
  }
}

/** Most unread bytes of one person's answers: more than a program reads at once, far less than a server's memory. */
const MAX_UNREAD = 64 * 1024 * 1024
/** Counted at least for a chunked answer: the data that it is generated from is in memory too. */
const BUFFERED_CHUNKS = 2 * 1024 * 1024
const SECONDS = 5

/**
 * Answers that were written but not yet read. Each occupies memory until its client has read it, so a person with too
 * many unread bytes gets no further answers. `listen.ts` limits how long an answer may stay unread.
 */
export class UnreadResponses {
  readonly #most: number
  readonly #open = new Map<UserId, Set<ServerResponse>>()

  constructor(most = MAX_UNREAD) {
    this.#most = most
  }

  /** Throws `too_much_unread` if this person has too many unread bytes. */
  requireRoom(user: UserId): void {
    if (this.isFull(user)) throw failure("too_much_unread", { bytes: this.#most, seconds: SECONDS })
  }

  isFull(user: UserId): boolean {
    return this.bytesOf(user) > this.#most
  }

  bytesOf(user: UserId): number {
    let bytes = 0
    for (const answer of this.#open.get(user) ?? []) bytes += weightOf(answer)
    return bytes
  }

  /** Call for every answer before it is written. Most are already read at the next turn and are not tracked. */
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
  return writableLength > 0 && chunkedEncoding ? Math.max(writableLength, BUFFERED_CHUNKS) : writableLength
}
