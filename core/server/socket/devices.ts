import type { Clock } from "../../shared/time/clock.ts"
import type {
  ArrivingDevice,
  DeviceCall,
  DeviceCallOptions,
  DeviceCalls,
  DevicePlace,
  WhichDevice,
} from "../../engine/devices.ts"
import { failure } from "../../protocol/errors.ts"
import type { CallId, ConversationId, UserId } from "../../protocol/ids.ts"
import type { CallOutcome, DeviceKnowledge, ToolCall } from "../../protocol/socket.ts"
import {
  type ApprovalSigning,
  AskDevice,
  type DeviceLines,
  GRACE_MS,
  type DeviceLine,
  isSameLine,
} from "./ask-device.ts"
import { type DeviceConnection, LateAnswers } from "./device-connection.ts"
import type { DeviceOwners } from "../auth/revocation.ts"

/**
 * The devices that are connected to this process; and, where others share its database, those that are connected to them
 * as far as they are asked from here.
 */
export class Devices implements DeviceCalls, DeviceLines {
  readonly #clock: Clock
  readonly #asks: AskDevice
  readonly #signer: ApprovalSigning | undefined
  /** By person and name; of several sockets of one device the newest is last, and is the device. */
  readonly #lines = new Map<string, DeviceConnection[]>()
  /** Sockets that speak in a conversation without having said who they are. */
  readonly #speakers = new Map<ConversationId, DeviceConnection>()
  /** What each line is found under, so that nobody else's are looked through when it comes or goes. */
  readonly #keys = new Map<DeviceConnection, string>()
  readonly #spoken = new Map<DeviceConnection, Set<ConversationId>>()
  readonly #lateAnswers = new LateAnswers()
  readonly #arrivals = new Set<(line: DeviceLine) => void>()
  #elsewhere: LinesElsewhere | undefined

  /** Without a signer devices cannot tell what this server has approved, and carry out what they are sent. */
  constructor(clock: Clock, signer?: ApprovalSigning) {
    this.#clock = clock
    this.#signer = signer
    this.#asks = new AskDevice(this, clock, signer)
  }

  /** Called when a device has answered a write that was given up: what became of it can be learned now. */
  onLateAnswer: (conversation: ConversationId, callId: CallId) => void = () => {}

  /** Whether the answer counts. */
  answeredLate(user: UserId, { conversationId, id }: ToolCall, outcome: CallOutcome): boolean {
    if (!conversationId || !this.#lateAnswers.add(user, id as CallId, outcome)) return false
    this.onLateAnswer(conversationId, id as CallId)
    return true
  }

  lateAnswer(user: UserId, callId: CallId): CallOutcome | undefined {
    return this.#lateAnswers.find(user, callId)
  }

  /** Others that share the database are looked at already. */
  get isJoined(): boolean {
    return this.#elsewhere !== undefined
  }

  /** From now on devices are looked for at other processes, too. The returned function ends that. */
  join(elsewhere: LinesElsewhere): () => void {
    this.#elsewhere = elsewhere
    return () => {
      if (this.#elsewhere === elsewhere) this.#elsewhere = undefined
    }
  }

  /**
   * The newest socket of a device is the device; what an older one was asked it may still answer, and when the newer one
   * is gone it is the device again.
   */
  async arrive(line: DeviceConnection): Promise<void> {
    const { deviceId = "" } = line.introduced ?? {}
    const key = keyOf(line.user, deviceId)
    this.#forget(line) // it may have had another name
    const older = this.#lines.get(key) ?? []
    this.#lines.delete(key) // so that the newest stands last among all
    this.#lines.set(key, [...older, line])
    this.#keys.set(line, key)
    for (const tell of this.#arrivals) tell(line)
    await this.#elsewhere?.arrived(line)
  }

  /** What devices verify signatures of this server with. */
  async approvalKeys(): Promise<readonly string[]> {
    return (await this.#signer?.publicKeys()) ?? []
  }

  /** A credential has asked to be a device: the one that is, where it is there, hears of it. */
  async asked(user: UserId, deviceId: string): Promise<void> {
    const line = await this.newest(user, deviceId)
    line?.tellOfClaim("asked")
  }

  /** From now on a device is this credential's: sockets of any other are told, and are no device until they say hello anew. */
  async taken(user: UserId, deviceId: string, lineage: string): Promise<void> {
    this.takenHere(user, deviceId, lineage)
    await this.#elsewhere?.taken(user, deviceId, lineage)
  }

  /** The same for those of this process alone. */
  takenHere(user: UserId, deviceId: string, lineage: string): void {
    for (const line of this.#lines.get(keyOf(user, deviceId)) ?? []) {
      if (line.lineage === lineage) continue
      this.#forget(line)
      line.loseName()
    }
  }

  /** Lets go of sockets that are no longer the device they were: what another process has allowed is seen here. */
  async look(owners: Pick<DeviceOwners, "handedOver">): Promise<void> {
    const users = new Set([...this.#keys.keys()].map(({ user }) => user))
    if (users.size === 0) return
    for (const { user, name, lineage } of await owners.handedOver([...users])) this.takenHere(user, name, lineage)
  }

  /** Throws `device_taken` where a socket of another credential is the device of this conversation, and still there. */
  async speaks(conversation: ConversationId, line: DeviceConnection): Promise<void> {
    const before = this.#speakers.get(conversation)
    if (before?.open && before.lineage !== line.lineage) throw failure("device_taken", { device: conversation })
    if (this.#elsewhere) await this.#elsewhere.speaks(conversation, line)
    if (!line.open) return // gone meanwhile, and nobody would ever take it off the list
    this.#speakers.set(conversation, line)
    const spoken = this.#spoken.get(line) ?? new Set()
    this.#spoken.set(line, spoken.add(conversation))
  }

  leave(line: DeviceConnection): void {
    line.close()
    this.#forget(line)
    for (const id of this.#spoken.get(line) ?? []) if (this.#speakers.get(id) === line) this.#speakers.delete(id)
    this.#spoken.delete(line)
    this.#elsewhere?.left(line)
  }

  /** How much of it is known now; all zero when everybody has left. */
  get size(): {
    readonly devices: number
    readonly speakers: number
    readonly calls: number
    readonly awaited: number
  } {
    let calls = 0
    for (const line of this.#connections()) calls += line.waiting
    return { devices: this.#lines.size, speakers: this.#spoken.size, calls, awaited: this.#arrivals.size }
  }

  /** Resolves when no device of this process is carrying out a call. */
  async answered(): Promise<void> {
    await Promise.all([...this.#connections()].map((line) => line.answered()))
  }

  /** The newest first. */
  async of(user: UserId): Promise<readonly ArrivingDevice[]> {
    const newest = [...this.#lines.values()].flatMap((lines) => lines.slice(-1).filter((line) => line.user === user))
    return this.#elsewhere ? this.#elsewhere.listAll(user, newest) : newest.reverse()
  }

  async isReachable(place: DevicePlace): Promise<boolean> {
    return (await this.find(place)) !== undefined
  }

  async knows(place: DevicePlace, what: DeviceKnowledge): Promise<boolean> {
    return (await this.find(place))?.introduced?.knows.includes(what) ?? false
  }

  call(place: DevicePlace, call: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome> {
    return this.#asks.call(place, call, asking)
  }

  outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    return this.#asks.outcome(place, callId)
  }

  find(place: DevicePlace): DeviceLine | undefined | Promise<DeviceLine | undefined> {
    const { user, conversation, deviceId } = place
    const which = deviceId === null ? { user, conversation } : { user, deviceId }
    const here = this.#here(which)
    if (!this.#elsewhere) return fitting(here, place)
    return this.#elsewhere.newest(which, here).then((line) => fitting(line, place))
  }

  newest(user: UserId, deviceId: string): DeviceLine | undefined | Promise<DeviceLine | undefined> {
    const here = this.#here({ user, deviceId })
    return this.#elsewhere ? this.#elsewhere.newest({ user, deviceId }, here) : here
  }

  /** The device's next socket, if it comes within the time of grace and nobody says meanwhile that it is not wanted. */
  comesBack(
    user: UserId,
    deviceId: string,
    { signal, not }: { signal?: AbortSignal; not?: DeviceLine },
  ): Promise<DeviceLine | undefined> {
    const here = () => this.#here({ user, deviceId })
    const is = here()
    if (!this.#elsewhere && is?.open) return Promise.resolve(is)
    const { promise, resolve } = Promise.withResolvers<DeviceLine | undefined>()
    const end = (line: DeviceLine | undefined) => {
      giveUp()
      signal?.removeEventListener("abort", stop)
      this.#arrivals.delete(arrived)
      stopWatching?.()
      resolve(line)
    }
    const arrived = (line: DeviceLine) => {
      const isIt = line.user === user && line.introduced?.deviceId === deviceId
      if (isIt && !(not && isSameLine(line, not))) end(line)
    }
    const stop = () => end(undefined)
    const giveUp = this.#clock.alarm(GRACE_MS, stop, "background")
    this.#arrivals.add(arrived)
    const stopWatching = this.#elsewhere?.watchFor({ user, deviceId }, here, arrived)
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    return promise
  }

  bar(callId: CallId): void {
    this.#elsewhere?.bar(callId)
  }

  async untilBarred(): Promise<boolean> {
    return (await this.#elsewhere?.untilBarred()) ?? false
  }

  #connections(): Set<DeviceConnection> {
    return new Set([...this.#keys.keys(), ...this.#spoken.keys()])
  }

  #forget(line: DeviceConnection): void {
    const key = this.#keys.get(line)
    this.#keys.delete(line)
    if (key === undefined) return
    const left = (this.#lines.get(key) ?? []).filter((other) => other !== line)
    if (left.length > 0) this.#lines.set(key, left)
    else this.#lines.delete(key)
    this.#elsewhere?.lostName(line)
  }

  #here(which: WhichDevice): DeviceConnection | undefined {
    const line =
      "deviceId" in which
        ? this.#lines.get(keyOf(which.user, which.deviceId))?.at(-1)
        : this.#speakers.get(which.conversation)
    return line?.user === which.user ? line : undefined
  }
}

const keyOf = (user: UserId, deviceId: string) => `${user} ${deviceId}`

const fitting = (line: DeviceLine | undefined, { user, offer }: DevicePlace): DeviceLine | undefined =>
  line && line.user === user && line.offers(offer) ? line : undefined

/** What the devices of this process need of those that are connected to others, where several share the database. */
export interface LinesElsewhere {
  /** Resolves when the others can find it by its name. */
  arrived(line: DeviceConnection): Promise<void>
  /** Throws `device_taken` where a socket of another credential is the device of that conversation, wherever it is. */
  speaks(conversation: ConversationId, line: DeviceConnection): Promise<void>
  /** It has its name no longer. */
  lostName(line: DeviceConnection): void
  left(line: DeviceConnection): void
  /** Of the socket that is the device here, if any is, and those elsewhere, the newest. */
  newest(which: WhichDevice, here: DeviceConnection | undefined): Promise<DeviceLine | undefined>
  /** Tells of a socket that is that device, and is open, as soon as there is one. The returned function ends it. */
  watchFor(which: WhichDevice, here: () => DeviceConnection | undefined, tell: (line: DeviceLine) => void): () => void
  /** The named devices of a person at all processes, given those that are here; the newest first. */
  listAll(user: UserId, here: readonly DeviceConnection[]): Promise<readonly ArrivingDevice[]>
  taken(user: UserId, deviceId: string, lineage: string): Promise<void>
  bar(callId: CallId): void
  untilBarred(): Promise<boolean>
}
