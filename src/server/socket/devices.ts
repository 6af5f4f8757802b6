import type { Clock } from "../../agent/clock.ts"
import {
  type DeviceCallOptions,
  DEVICE_GRACE_SECONDS,
  type DeviceCall,
  type DeviceCalls,
  type DevicePlace,
  deviceSeconds,
} from "../../agent/devices.ts"
import { failure } from "../../protocol/errors.ts"
import { type CallId, type ConversationId, newId, TIME_DIGITS, type UserId } from "../../protocol/ids.ts"
import type { CallOutcome, DeviceKnowledge, ToolCall } from "../../protocol/socket.ts"
import { type DeviceConnection, type CallEnd, outcomeOf } from "./device-connection.ts"
import type { DeviceOwners } from "../door/device-owners.ts"

/** The devices that are connected to this process, and the calls that are under way to them. */
export class Devices implements DeviceCalls {
  readonly #clock: Clock
  /** By person and name; of several sockets of one device the newest is last, and is the device. */
  readonly #lines = new Map<string, DeviceConnection[]>()
  /** Sockets that speak in a conversation without having said who they are. */
  readonly #speakers = new Map<ConversationId, DeviceConnection>()
  /** What each line is found under, so that nobody else's are looked through when it comes or goes. */
  readonly #keys = new Map<DeviceConnection, string>()
  readonly #spoken = new Map<DeviceConnection, Set<ConversationId>>()
  readonly #arrivals = new Set<(line: DeviceConnection) => void>()
  readonly #startedAt: number
  #reads = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  /**
   * The newest socket of a device is the device; what an older one was asked it may still answer, and when the newer one
   * is gone it is the device again.
   */
  arrive(line: DeviceConnection): void {
    const { deviceId = "" } = line.introduced ?? {}
    const key = keyOf(line.user, deviceId)
    this.#forget(line) // it may have had another name
    const older = this.#lines.get(key) ?? []
    this.#lines.delete(key) // so that the newest stands last among all
    this.#lines.set(key, [...older, line])
    this.#keys.set(line, key)
    for (const tell of this.#arrivals) tell(line)
  }

  /** A credential has asked to be a device: the one that is, where it is here, hears of it. */
  asked(user: UserId, deviceId: string): void {
    this.#current(keyOf(user, deviceId))?.tellOfClaim("asked")
  }

  /** From now on a device is this credential's: sockets of any other are told, and are no device until they say hello anew. */
  taken(user: UserId, deviceId: string, lineage: string): void {
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
    for (const { user, name, lineage } of await owners.handedOver([...users])) this.taken(user, name, lineage)
  }

  /** Throws `device_taken` where a socket of another credential is the device of this conversation, and still there. */
  speaks(conversation: ConversationId, line: DeviceConnection): void {
    const before = this.#speakers.get(conversation)
    if (before?.open && before.lineage !== line.lineage) throw failure("device_taken", { device: conversation })
    this.#speakers.set(conversation, line)
    const spoken = this.#spoken.get(line) ?? new Set()
    this.#spoken.set(line, spoken.add(conversation))
  }

  leave(line: DeviceConnection): void {
    line.close()
    this.#forget(line)
    for (const id of this.#spoken.get(line) ?? []) if (this.#speakers.get(id) === line) this.#speakers.delete(id)
    this.#spoken.delete(line)
  }

  /** How much of it is known now; all zero when everybody has left. */
  get size(): {
    readonly devices: number
    readonly speakers: number
    readonly calls: number
    readonly awaited: number
  } {
    const lines = new Set([...this.#keys.keys(), ...this.#spoken.keys()])
    let calls = 0
    for (const line of lines) calls += line.waiting
    return { devices: this.#lines.size, speakers: this.#spoken.size, calls, awaited: this.#arrivals.size }
  }

  of(user: UserId): DeviceConnection[] {
    return [...this.#lines.values()].flatMap((lines) => lines.slice(-1).filter((line) => line.user === user)).reverse()
  }

  isReachable(place: DevicePlace): boolean {
    return this.#find(place) !== undefined
  }

  knows(place: DevicePlace, what: DeviceKnowledge): boolean {
    return this.#find(place)?.introduced?.knows.includes(what) ?? false
  }

  async call(place: DevicePlace, { callId, ...asked }: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome> {
    const line = this.#find(place) ?? (await this.#afterStart(place, asking.signal))
    const ms = deviceSeconds(asking.seconds) * 1000
    const call = { type: "tool_call", ...asked, conversationId: place.conversation } as const
    const heard =
      asking.effect === "write"
        ? await this.#write(line, { ...call, id: callId }, ms)
        : await line.read({ ...call, id: `${callId}.${++this.#reads}` }, { ms, signal: asking.signal })
    if (typeof heard === "string") throw unheard(heard, asking, ms)
    if (heard.error !== undefined) throw new Error(heard.error.slice(0, 2000))
    return heard
  }

  async outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    const unknown = (problem: string) => failure("outcome_unknown", { problem })
    // Which device it was sent to is known by its name alone, and one without a ledger knows only what it remembers.
    if (place.deviceId === null) throw unknown("The device it was sent to has no name, so it cannot be asked.")
    const line = this.#find(place) ?? (await this.#comesBack(place.user, place.deviceId))
    if (!line) throw unknown(`${nameOf(place)} is not connected, and only it knows whether this was done.`)
    const report = await line.report(callId)
    // Where its ledger says that it ended with an error nothing was done, and it may be tried again.
    if (report?.status === "applied") return report.error === undefined ? outcomeOf(report) : "not-applied"
    if (report?.status === "unknown" && line.introduced?.ledger && !isBeforeTaking(callId, line)) return "not-applied"
    throw unknown(`${nameOf(place)} cannot say whether this was done.`)
  }

  /**
   * Right after the server's start devices are on their way back to conversations of the life before. They are waited for
   * as long as one that was cut off during a write; nothing has been sent yet.
   */
  async #afterStart(place: DevicePlace, signal: AbortSignal): Promise<DeviceConnection> {
    const { user, conversation, deviceId } = place
    const age = this.#clock.now() - this.#startedAt
    if (deviceId === null || age >= GRACE_MS || !isBefore(conversation, this.#startedAt))
      throw failure("device_offline", { device: nameOf(place) })
    await this.#comesBack(user, deviceId, signal)
    const line = this.#find(place)
    if (line) return line
    signal.throwIfAborted()
    const waited = `The server has just started and has waited ${DEVICE_GRACE_SECONDS} s for it, but the device "${deviceId}"`
    throw failure("device_offline", { device: waited })
  }

  async #write(line: DeviceConnection, call: ToolCall, ms: number): Promise<CallEnd> {
    const { introduced } = line // as it was when the call was sent
    const heard = await line.write(call, ms)
    // Offered a second time only to a device that notes what it has done, and only to the same one.
    if (!introduced?.ledger || (heard !== "closed" && heard !== "silent")) return heard
    const key = keyOf(line.user, introduced.deviceId)
    // A line that keeps silent may be dead, and the device here again on another one, where it can tell.
    if (heard === "silent" && this.#current(key) === line) return heard
    const again = heard === "silent" ? this.#current(key) : await this.#comesBack(line.user, introduced.deviceId)
    // Under another credential it may be another machine, whose ledger knows nothing of this call.
    if (!again?.introduced?.ledger || again.lineage !== line.lineage) return heard
    // Where it cannot be offered again, nothing is known but that it was sent once.
    return again.write(call, ms).catch(() => heard)
  }

  #forget(line: DeviceConnection): void {
    const key = this.#keys.get(line)
    this.#keys.delete(line)
    if (key === undefined) return
    const left = (this.#lines.get(key) ?? []).filter((other) => other !== line)
    if (left.length > 0) this.#lines.set(key, left)
    else this.#lines.delete(key)
  }

  #current(key: string): DeviceConnection | undefined {
    return this.#lines.get(key)?.at(-1)
  }

  /** The device's next socket, if it comes within the time of grace and nobody says meanwhile that it is not wanted. */
  #comesBack(user: UserId, deviceId: string, signal?: AbortSignal): Promise<DeviceConnection | undefined> {
    const here = this.#current(keyOf(user, deviceId))
    if (here?.open) return Promise.resolve(here)
    const { promise, resolve } = Promise.withResolvers<DeviceConnection | undefined>()
    const arrived = (line: DeviceConnection | undefined) => {
      if (line && (line.user !== user || line.introduced?.deviceId !== deviceId)) return
      giveUp()
      signal?.removeEventListener("abort", stop)
      this.#arrivals.delete(arrived)
      resolve(line)
    }
    const stop = () => arrived(undefined)
    const giveUp = this.#clock.alarm(GRACE_MS, stop)
    this.#arrivals.add(arrived)
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    return promise
  }

  #find({ user, conversation, deviceId, offer }: DevicePlace): DeviceConnection | undefined {
    const line = deviceId === null ? this.#speakers.get(conversation) : this.#current(keyOf(user, deviceId))
    return line && line.user === user && line.offers(offer) ? line : undefined
  }
}

const GRACE_MS = DEVICE_GRACE_SECONDS * 1000

/** Ids begin with their time; of one from the same moment this says no. */
function isBefore(conversation: ConversationId, at: number): boolean {
  const length = "conv_".length + TIME_DIGITS
  return conversation.slice(0, length) < newId("conv", at).slice(0, length)
}

const keyOf = (user: UserId, deviceId: string) => `${user} ${deviceId}`
/** Clocks of nodes differ; a call from around the taking counts as one from before it. */
const AROUND_MS = 10 * 60_000

/**
 * A call that may have gone to whoever was the device before this one. That this one knows nothing of it proves nothing.
 * An id begins with its time.
 */
function isBeforeTaking(callId: CallId, { introduced }: DeviceConnection): boolean {
  const takenAt = introduced?.takenAt ?? null
  return takenAt !== null && callId <= newId("call", takenAt + AROUND_MS)
}

const nameOf = ({ deviceId }: DevicePlace) => (deviceId === null ? "A device" : `The device "${deviceId}"`)

function unheard(heard: Exclude<CallEnd, CallOutcome>, { effect, signal }: DeviceCallOptions, ms: number): unknown {
  if (heard === "stopped") return signal.reason
  const how = heard === "closed" ? "the device was disconnected" : `the device did not answer within ${ms / 1000} s`
  if (effect === "read") return new Error(`${how}; try again when it is there`)
  // Its ledger says so: it never came there, and nothing of it is under way.
  if (heard === "unknown") return new Error(`${how}, and says that it has not done it`)
  return failure("outcome_unknown", { problem: `It was sent, but ${how}, and nobody else knows whether it was done.` })
}
