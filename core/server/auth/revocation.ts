import { type Clock, machineTimeOf } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { Runtime } from "../../engine/runtime/runtime.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId, ConversationId, DeviceRequestId } from "../../protocol/ids.ts"
import type { Caller, Credentials, Streams } from "./credentials.ts"
import type { Credential, DeviceRequest } from "../../protocol/account/sign-in.ts"

/** How often credentials in use are looked at: what another process revokes reaches us in that time (promise 14: 5 s). */
const LOOK_MS = 2000
/** Streams and sockets in one process. Of one person: more than screens and programs need, less than others would feel. */
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
  /** Looked at with the rest: what another process has handed over. */
  readonly devices?: { look(): Promise<void> }
  /** The other processes, which need not wait for their own look. */
  readonly others?: { revoked(): void }
  readonly most?: { readonly ofOne: number; readonly ofAll: number }
}

/**
 * Lets nothing go on in the name of a credential that no longer counts. What this process revokes stops at once; what
 * another one does, what expires, and what was revoked while a run had no living writer, with the next look. While
 * nobody uses a credential nothing is asked.
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
    // What comes to 20 KB each is no danger to the process; what has no end is.
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
    // The revocation is durable by now: what cannot be stopped at once is stopped by the next look.
    await this.#cancelRuns(new Set([credential])).catch((error: unknown) => log.warn("cancel_failed", { error }))
  }

  ended(credential: string): void {
    this.#close((open) => open.credential.id === credential)
    this.#ports.others?.revoked()
  }

  /** Closes everything that is open: whoever watches comes again, to whoever serves then. */
  endAll(): void {
    this.#close(() => true)
  }

  /** Looks again and again until disposed of. */
  start(): this {
    // The next look is arranged when the last one is over: a slow store is not asked twice at a time.
    this.#stop = this.#ports.clock.alarm(LOOK_MS, () => void this.#round(), "background")
    return this
  }

  /** As soon as another process says that something was revoked. What is said during a look is looked at once after it. */
  async lookNow(): Promise<void> {
    if (this.#looking) {
      this.#again = true
      return
    }
    this.#looking = true
    do {
      this.#again = false
      try {
        await this.look()
        await this.#ports.devices?.look()
      } catch (error) {
        this.#ports.log.warn("revocation_poll_failed", { error })
      }
    } while (this.#again && !this.#over)
    this.#looking = false
  }

  /** Closes and cancels what no longer counts. One query, and none while no credential is in use. */
  async look(): Promise<void> {
    const { credentials, runtime, clock } = this.#ports
    const now = clock.now()
    // We keep no JWTs: how long one counts, it says itself.
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
    await this.lookNow()
    if (!this.#over) this.start()
  }

  #leave(open: Open): void {
    if (!this.#open.delete(open)) return
    const left = (this.#counts.get(open.user) ?? 1) - 1
    if (left > 0) this.#counts.set(open.user, left)
    else this.#counts.delete(open.user)
  }

  #close(concerns: (open: Open) => boolean): void {
    const { log } = this.#ports
    for (const open of this.#open) {
      if (!concerns(open)) continue
      this.#leave(open)
      try {
        open.close()
      } catch (error) {
        log.warn("close_failed", { error }) // the others have to be closed all the same
      }
    }
  }

  async #cancelRuns(revoked: ReadonlySet<string>): Promise<void> {
    if (revoked.size === 0) return
    const { runtime, log } = this.#ports
    const runs = (await runtime.runsByCredential()).filter(({ credential }) => revoked.has(credential))
    // The cancel names the credential: a run that somebody else has set going meanwhile is not hit by it.
    const cancels = runs.map(({ id, user, credential }) => runtime.submit(id, { type: "cancel", by: user, credential }))
    const failed = (await Promise.allSettled(cancels)).flatMap((cancel) =>
      cancel.status === "rejected" ? [cancel] : [],
    )
    for (const { reason } of failed) log.warn("cancel_failed", { error: reason })
  }
}

/** Which credential may be which device of a person. */
export interface DeviceOwners {
  /** Binds a name that is free, and otherwise asks the person for it. */
  claim(user: UserId, name: string, credential: Credential): Promise<DeviceClaim>
  requests(user: UserId): Promise<DeviceRequest[]>
  /** Both throw `not_found` for what is not theirs or no longer waits. */
  allow(user: UserId, request: DeviceRequestId, by: Credential): Promise<{ name: string; lineage: string }>
  refuse(user: UserId, request: DeviceRequestId): Promise<void>
  /** Devices of these people that were handed over from one credential to another, and whose they are now. */
  handedOver(users: readonly UserId[]): Promise<{ user: UserId; name: string; lineage: string }[]>
  /** The conversation that a device was last spoken in. It need not be there: it is noted before it begins. */
  lastConversation(user: UserId, name: string): Promise<ConversationId | undefined>
  speaksIn(user: UserId, name: string, conversation: ConversationId): Promise<void>
}

/** `takenAt`: since when it is this credential's, where it was another's before. */
export type DeviceClaim =
  | { readonly owned: true; readonly takenAt: number | null }
  | { readonly owned: false; readonly asked: "now" | "before" }
