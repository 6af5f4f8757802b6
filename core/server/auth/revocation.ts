import { type Clock, machineTimeOf } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { Runtime } from "../../engine/runtime/runtime.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId, ConversationId, DeviceRequestId } from "../../protocol/ids.ts"
import type { Caller, Credentials, Streams } from "./credentials.ts"
import type { Credential, DeviceRequest } from "../../protocol/account/sign-in.ts"

/**
 * How often the credentials in use are checked. A revocation by another process must take effect within 5 s.
 */
const CHECK_MS = 2000
/**
 * Streams and sockets in one process: per person more than screens and programs need, few enough that others do not
 * notice.
 */
const MAX_STREAMS = { ofOne: 1000, ofAll: 20_000 }

interface Open {
  readonly user: UserId
  readonly credential: Caller["credential"]
  close(): void
}

interface RevocationPorts {
  readonly credentials: Credentials
  readonly runtime: Runtime
  readonly clock: Clock
  readonly log: Log
  /** Checked in the same round: devices that another process assigned to a new credential. */
  readonly devices?: { check(): Promise<void> }
  /** Wakes the other processes, which otherwise notice in their next round. */
  readonly others?: { revoked(): void }
  readonly most?: { readonly ofOne: number; readonly ofAll: number }
}

/**
 * Stops everything that uses a credential which is no longer valid. A revocation in this process takes effect at once;
 * one in another process, an expiry, and one that happened while a run had no living writer take effect in the next
 * round. Without a credential in use, a round costs no query.
 */
export class Revocation implements Streams, Disposable {
  readonly #ports: RevocationPorts
  readonly #open = new Set<Open>()
  readonly #counts = new Map<UserId, number>()
  #stop: () => void = () => {}
  #over = false
  #looking = false
  #again = false

  constructor(ports: RevocationPorts) {
    this.#ports = ports
  }

  admit({ person }: Caller): void {
    const { ofOne, ofAll } = this.#ports.most ?? MAX_STREAMS
    if ((this.#counts.get(person.id) ?? 0) >= ofOne) throw failure("too_many_streams", { most: ofOne })
    // A stream takes about 20 KB; this bounds the sum.
    if (this.#open.size >= ofAll) throw failure("server_full", { most: ofAll })
  }

  register({ person, credential }: Caller, close: () => void): () => void {
    const open = { user: person.id, credential, close }
    this.#open.add(open)
    this.#counts.set(person.id, (this.#counts.get(person.id) ?? 0) + 1)
    return () => this.#leave(open)
  }

  async revoked(credential: string): Promise<void> {
    this.ended(credential)
    const { log } = this.#ports
    // The revocation is durable by now: the next round cancels what could not be cancelled here.
    await this.#cancelRuns(new Set([credential])).catch((error: unknown) => log.warn("cancel_failed", { error }))
  }

  ended(credential: string): void {
    this.#close((open) => open.credential.id === credential)
    this.#ports.others?.revoked()
  }

  /** Closes every stream: clients reconnect, to whichever server answers then. */
  closeAll(): void {
    this.#close(() => true)
  }

  /** Checks in rounds until disposed. */
  start(): this {
    // The next round is scheduled when this one is over, so that a slow store gets one query at a time.
    this.#stop = this.#ports.clock.alarm(CHECK_MS, () => void this.#round(), "background")
    return this
  }

  /** Checks at once, when another process reports a revocation. A report that comes during a check causes one more. */
  async checkNow(): Promise<void> {
    if (this.#looking) {
      this.#again = true
      return
    }
    this.#looking = true
    do {
      this.#again = false
      try {
        await this.check()
        await this.#ports.devices?.check()
      } catch (error) {
        this.#ports.log.warn("revocation_poll_failed", { error })
      }
    } while (this.#again && !this.#over)
    this.#looking = false
  }

  /** Closes and cancels what is no longer valid, with one query. */
  async check(): Promise<void> {
    const { credentials, runtime, clock } = this.#ports
    const now = clock.now()
    // JWTs are not stored: each contains its expiry.
    const day = machineTimeOf(clock)
    this.#close(({ credential: { type, expiresAt } }) => type === "jwt" && expiresAt !== undefined && expiresAt <= day)
    const runs = await runtime.runsByCredential()
    const used = new Set([...runs.map((run) => run.credential), ...[...this.#open].map((open) => open.credential.id)])
    if (used.size === 0) return
    const lapsed = await credentials.lapsed([...used], now)
    this.#close((open) => lapsed.has(open.credential.id))
    await this.#cancelRuns(new Set([...lapsed].flatMap(([id, why]) => (why === "revoked" ? [id] : []))))
  }

  [Symbol.dispose](): void {
    this.#over = true
    this.#stop()
  }

  async #round(): Promise<void> {
    await this.checkNow()
    if (!this.#over) this.start()
  }

  #leave(open: Open): void {
    if (!this.#open.delete(open)) return
    const left = (this.#counts.get(open.user) ?? 1) - 1
    if (left > 0) this.#counts.set(open.user, left)
    else this.#counts.delete(open.user)
  }

  #close(isOutcomeOf: (open: Open) => boolean): void {
    const { log } = this.#ports
    for (const open of this.#open) {
      if (!isOutcomeOf(open)) continue
      this.#leave(open)
      try {
        open.close()
      } catch (error) {
        log.warn("close_failed", { error }) // the others must still be closed
      }
    }
  }

  async #cancelRuns(revoked: ReadonlySet<string>): Promise<void> {
    if (revoked.size === 0) return
    const { runtime, log } = this.#ports
    const runs = (await runtime.runsByCredential()).filter(({ credential }) => revoked.has(credential))
    // The cancel names the credential, so it does not hit a run that someone else started in the meantime.
    const cancels = runs.map(({ id, user, credential }) => runtime.submit(id, { type: "cancel", by: user, credential }))
    const failed = (await Promise.allSettled(cancels)).flatMap((cancel) =>
      cancel.status === "rejected" ? [cancel] : [],
    )
    for (const { reason } of failed) log.warn("cancel_failed", { error: reason })
  }
}

/** Which credential may act as which device of a person. */
export interface DeviceOwners {
  /** Binds a name that is free; otherwise asks the person to approve. */
  claim(user: UserId, name: string, credential: Credential): Promise<DeviceClaim>
  requests(user: UserId): Promise<DeviceRequest[]>
  /** Both throw `not_found` if the request is another person's or no longer pending. */
  allow(user: UserId, request: DeviceRequestId, by: Credential): Promise<{ name: string; lineage: string }>
  refuse(user: UserId, request: DeviceRequestId): Promise<void>
  /** Devices of these people that were reassigned to another credential, with the new owner's lineage. */
  handedOver(users: readonly UserId[]): Promise<{ user: UserId; name: string; lineage: string }[]>
  /**
   * The conversation in which the device last received a message. It may not exist yet: it is stored before it is
   * created.
   */
  lastConversation(user: UserId, name: string): Promise<ConversationId | undefined>
  speaksIn(user: UserId, name: string, conversation: ConversationId): Promise<void>
}

/** `takenAt`: when it was reassigned to this credential, if it belonged to another before. */
type DeviceClaim =
  | { readonly owned: true; readonly takenAt: number | null }
  | { readonly owned: false; readonly asked: "now" | "before" }
