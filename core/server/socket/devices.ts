import { createHash } from "node:crypto"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import {
  type ArrivingDevice,
  DEVICE_GRACE_SECONDS,
  type DeviceCall,
  type DeviceCallOptions,
  type DeviceCalls,
  type DevicePlace,
  deviceSeconds,
  type WhichDevice,
} from "../../engine/devices.ts"
import { approvalText } from "../../protocol/calls/follow-calls.ts"
import { failure } from "../../protocol/errors.ts"
import { type CallId, type ConversationId, newId, TIME_DIGITS, type UserId } from "../../protocol/ids.ts"
import type { CallOutcome, DeviceKnowledge, ToolCall } from "../../protocol/socket.ts"
import {
  type CallEnd,
  type DeviceConnection,
  type ConnectedDevice,
  isSameDevice,
  isUnreadable,
  UnclaimedResults,
  type RemoteDevices,
  nameOf,
  outcomeOf,
  type Unreadable,
} from "./device-connection.ts"
import type { DeviceOwners } from "../auth/revocation.ts"

/** Signs what is sent to devices, so that a device can verify that the server approved it. */
interface ApprovalSigning {
  /** The keys to verify signatures with. */
  publicKeys(): Promise<readonly string[]>
  sign(text: string): Promise<readonly string[]>
}

const GRACE_MS = DEVICE_GRACE_SECONDS * 1000

/** The devices that are connected to this process, and those of other processes as far as this one calls them. */
export class Devices implements DeviceCalls {
  readonly #clock: Clock
  readonly #startedAt: { readonly monotonic: number; readonly day: number }
  #reads = 0
  readonly #signer: ApprovalSigning | undefined
  /** By person and name. Of several sockets of a device the newest is last, and is used. */
  readonly #socketsByName = new Map<string, DeviceConnection[]>()
  /** Sockets without `hello`, by the conversation that they send messages to. */
  readonly #byConversation = new Map<ConversationId, DeviceConnection>()
  /** The key of each socket in `#socketsByName`. */
  readonly #keys = new Map<DeviceConnection, string>()
  readonly #conversations = new Map<DeviceConnection, Set<ConversationId>>()
  readonly #unclaimedResults = new UnclaimedResults()
  readonly #reconnectListeners = new Set<(socket: ConnectedDevice) => void>()
  #remote: RemoteDevices | undefined

  /** Without a signer devices cannot verify approvals, and execute what they are sent. */
  constructor(clock: Clock, signer?: ApprovalSigning) {
    this.#clock = clock
    this.#signer = signer
    this.#startedAt = { monotonic: monotonicOf(clock), day: clock.now() }
  }

  /** Called when a device answers a write that was given up: its outcome can be read now. */
  onLateResult: (conversation: ConversationId, callId: CallId) => void = () => {}

  /** Whether the result was accepted. */
  addLateResult(user: UserId, { conversationId, id }: ToolCall, outcome: CallOutcome): boolean {
    if (!conversationId || !this.#unclaimedResults.add(user, id as CallId, outcome)) return false
    this.onLateResult(conversationId, id as CallId)
    return true
  }

  /** Whether devices of other processes can be called. */
  get isJoined(): boolean {
    return this.#remote !== undefined
  }

  /** Enables calls to devices of other processes. The returned function disables them. */
  join(remote: RemoteDevices): () => void {
    this.#remote = remote
    return () => {
      if (this.#remote === remote) this.#remote = undefined
    }
  }

  /**
   * Registers a socket. The newest socket of a device is used; an older one may still answer its open calls, and is used
   * again when the newer one closes.
   */
  async register(socket: DeviceConnection): Promise<void> {
    const { deviceId = "" } = socket.introduced ?? {}
    const key = keyOf(socket.user, deviceId)
    this.#forget(socket) // it may have had another name
    const older = this.#socketsByName.get(key) ?? []
    this.#socketsByName.delete(key) // so that the map stays ordered by age
    this.#socketsByName.set(key, [...older, socket])
    this.#keys.set(socket, key)
    for (const onDevice of this.#reconnectListeners) onDevice(socket)
    await this.#remote?.registered(socket)
  }

  /** The keys that devices verify signatures of this server with. */
  async approvalKeys(): Promise<readonly string[]> {
    return (await this.#signer?.publicKeys()) ?? []
  }

  /** Notifies a device that another credential asks to use its name. */
  async announceClaim(user: UserId, deviceId: string): Promise<void> {
    const socket = await this.newest(user, deviceId)
    socket?.notifyClaim("asked")
  }

  /**
   * Makes a credential the owner of a device: sockets of other credentials are notified and are no device until their next
   * `hello`.
   */
  async reassignName(user: UserId, deviceId: string, lineage: string): Promise<void> {
    this.reassignNameLocally(user, deviceId, lineage)
    await this.#remote?.reassignName(user, deviceId, lineage)
  }

  /** The same, in this process only. */
  reassignNameLocally(user: UserId, deviceId: string, lineage: string): void {
    for (const socket of this.#socketsByName.get(keyOf(user, deviceId)) ?? []) {
      if (socket.lineage === lineage) continue
      this.#forget(socket)
      socket.loseName()
    }
  }

  /** Applies reassignments that another process approved. */
  async applyReassignments(owners: Pick<DeviceOwners, "handedOver">): Promise<void> {
    const users = new Set([...this.#keys.keys()].map(({ user }) => user))
    if (users.size === 0) return
    for (const { user, name, lineage } of await owners.handedOver([...users]))
      this.reassignNameLocally(user, name, lineage)
  }

  /** Throws `device_taken` if an open socket of another credential is the device of this conversation. */
  async bindConversation(conversation: ConversationId, socket: DeviceConnection): Promise<void> {
    const before = this.#byConversation.get(conversation)
    if (before?.open && before.lineage !== socket.lineage) throw failure("device_taken", { device: conversation })
    if (this.#remote) await this.#remote.bindConversation(conversation, socket)
    if (!socket.open) return // closed in the meantime: it would never be removed
    this.#byConversation.set(conversation, socket)
    const conversations = this.#conversations.get(socket) ?? new Set()
    this.#conversations.set(socket, conversations.add(conversation))
  }

  unregister(socket: DeviceConnection): void {
    socket.close()
    this.#forget(socket)
    for (const id of this.#conversations.get(socket) ?? [])
      if (this.#byConversation.get(id) === socket) this.#byConversation.delete(id)
    this.#conversations.delete(socket)
    this.#remote?.left(socket)
  }

  /** Counts for metrics and tests; all zero when no device is connected. */
  get size(): {
    readonly devices: number
    readonly speakers: number
    readonly calls: number
    readonly awaited: number
  } {
    let calls = 0
    for (const socket of this.#connections()) calls += socket.waiting
    return {
      devices: this.#socketsByName.size,
      speakers: this.#conversations.size,
      calls,
      awaited: this.#reconnectListeners.size,
    }
  }

  /** Resolves when no device of this process is executing a call. */
  async answered(): Promise<void> {
    await Promise.all([...this.#connections()].map((socket) => socket.answered()))
  }

  /** The newest first. */
  async of(user: UserId): Promise<readonly ArrivingDevice[]> {
    const newest = [...this.#socketsByName.values()].flatMap((sockets) =>
      sockets.slice(-1).filter((socket) => socket.user === user),
    )
    return this.#remote ? this.#remote.listAll(user, newest) : newest.reverse()
  }

  async isReachable(place: DevicePlace): Promise<boolean> {
    return (await this.find(place)) !== undefined
  }

  async knows(place: DevicePlace, what: DeviceKnowledge): Promise<boolean> {
    return (await this.find(place))?.introduced?.knows.includes(what) ?? false
  }

  async call(place: DevicePlace, { callId, ...asked }: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome> {
    const found = this.find(place)
    const socket =
      (found instanceof Promise ? await found : found) ?? (await this.#waitAfterStart(place, asking.signal))
    const [ms, { signal }] = [deviceSeconds(asking.seconds) * 1000, asking]
    if (asking.effect === "write") signal.throwIfAborted() // a write that has not started when the run stops is not sent
    const call = { type: "tool_call", ...asked, conversationId: place.conversation } as const
    const ended =
      asking.effect === "write"
        ? await this.#write(socket, await this.#sign(socket, { ...call, id: callId }, signal), { ms, signal })
        : await socket.read({ ...call, id: `${callId}.${++this.#reads}` }, { ms, signal })
    if (typeof ended === "string" || isUnreadable(ended)) throw toError(ended, asking, ms)
    if (ended.error !== undefined) throw new Error(ended.error.slice(0, 2000))
    return ended
  }

  async outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    const reported = await this.#ask(place, callId)
    if (reported !== "not-applied" || !(await this.#remote?.untilBarred())) return reported
    return this.#ask(place, callId)
  }

  async #ask(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    const unknown = (problem: string) => failure("outcome_unknown", { problem })
    const late = this.#unclaimedResults.find(place.user, callId)
    if (late) return late.error === undefined ? late : "not-applied"
    // The device is identified by name only, and without a ledger it knows only what is in its memory.
    if (place.deviceId === null) throw unknown("The device it was sent to has no name, so it cannot be asked.")
    // Before the question: a call that arrives after the answer would make the answer wrong.
    this.#remote?.bar(callId)
    const socket = (await this.find(place)) ?? (await this.#waitForReconnect(place.user, place.deviceId, {}))
    if (!socket) throw unknown(`${nameOf(place.deviceId)} is not connected, and only it knows whether this was done.`)
    const report = await socket.report(callId)
    // The ledger says that it ended with an error: nothing was done, so it may be retried.
    if (report?.status === "applied") return report.error === undefined ? outcomeOf(report) : "not-applied"
    if (report?.status === "unknown" && socket.introduced?.ledger && !mayBeOfPreviousOwner(callId, socket))
      return "not-applied"
    throw unknown(`${nameOf(place.deviceId)} cannot say whether this was done.`)
  }

  /**
   * Right after the server's start, devices of earlier conversations are reconnecting. Wait for one as long as after a cut
   * connection; nothing has been sent yet.
   */
  async #waitAfterStart(place: DevicePlace, signal: AbortSignal): Promise<ConnectedDevice> {
    const { user, conversation, deviceId } = place
    const age = monotonicOf(this.#clock) - this.#startedAt.monotonic
    if (deviceId === null || age >= GRACE_MS || !isBefore(conversation, this.#startedAt.day))
      throw failure("device_offline", { device: nameOf(deviceId) })
    await this.#waitForReconnect(user, deviceId, { signal })
    const socket = await this.find(place)
    if (socket) return socket
    signal.throwIfAborted()
    const waited = `The server has just started and has waited ${DEVICE_GRACE_SECONDS} s for it, but the device "${deviceId}"`
    throw failure("device_offline", { device: waited })
  }

  /**
   * Signs a call. Only the node that runs the conversation gets here, after its gate; other nodes forward the signed call.
   */
  async #sign(socket: ConnectedDevice, call: ToolCall, signal: AbortSignal): Promise<ToolCall> {
    const { deviceId, knows = [] } = socket.introduced ?? {}
    if (!this.#signer || deviceId === undefined || !knows.includes("approvals")) return call
    const approvals = [...(await this.#signer.sign(approvalText(call, deviceId, sha256)))]
    // The run may have stopped, or the device left, in the meantime: nothing was sent yet.
    signal.throwIfAborted()
    if (!socket.open) throw failure("device_offline", { device: nameOf(deviceId) })
    return approvals.length > 0 ? { ...call, approvals } : call
  }

  async #write(socket: ConnectedDevice, call: ToolCall, asking: { ms: number; signal: AbortSignal }): Promise<CallEnd> {
    const { introduced, user } = socket // as it was when the call was sent
    const ended = await socket.write(call, asking)
    // Sent a second time only to a device with a ledger, and only to the same device.
    if (!introduced?.ledger || (ended !== "closed" && ended !== "silent")) return ended
    const { deviceId } = introduced
    const reconnected = await (ended === "silent"
      ? this.newest(user, deviceId)
      : this.#waitForReconnect(user, deviceId, { not: socket }))
    // A silent connection may be dead while the device is already back on a new one.
    if (!reconnected || isSameDevice(reconnected, socket)) return ended
    // Another credential may be another machine, whose ledger does not contain this call.
    if (!reconnected.introduced?.ledger || reconnected.lineage !== socket.lineage) return ended
    // If it cannot be sent again, all that is known is that it was sent once.
    return reconnected.write(call, { ...asking, signal: NEVER, unwanted: asking.signal }).catch(() => ended)
  }

  /** The socket to send calls to. With several nodes, `ClusterDevices.newest` may choose that of another node. */
  find(place: DevicePlace): ConnectedDevice | undefined | Promise<ConnectedDevice | undefined> {
    const { user, conversation, deviceId } = place
    const which = deviceId === null ? { user, conversation } : { user, deviceId }
    const here = this.#here(which)
    if (!this.#remote) return fitting(here, place)
    return this.#remote.newest(which, here).then((socket) => fitting(socket, place))
  }

  newest(user: UserId, deviceId: string): ConnectedDevice | undefined | Promise<ConnectedDevice | undefined> {
    const here = this.#here({ user, deviceId })
    return this.#remote ? this.#remote.newest({ user, deviceId }, here) : here
  }

  /** The device's next socket, if it connects within the grace period and before `signal` aborts. */
  #waitForReconnect(
    user: UserId,
    deviceId: string,
    { signal, not }: { signal?: AbortSignal; not?: ConnectedDevice },
  ): Promise<ConnectedDevice | undefined> {
    const here = () => this.#here({ user, deviceId })
    const is = here()
    if (!this.#remote && is?.open) return Promise.resolve(is)
    const { promise, resolve } = Promise.withResolvers<ConnectedDevice | undefined>()
    const end = (socket: ConnectedDevice | undefined) => {
      giveUp()
      signal?.removeEventListener("abort", stop)
      this.#reconnectListeners.delete(registered)
      stopWatching?.()
      resolve(socket)
    }
    const registered = (socket: ConnectedDevice) => {
      const isIt = socket.user === user && socket.introduced?.deviceId === deviceId
      if (isIt && !(not && isSameDevice(socket, not))) end(socket)
    }
    const stop = () => end(undefined)
    const giveUp = this.#clock.alarm(GRACE_MS, stop, "background")
    this.#reconnectListeners.add(registered)
    const stopWatching = this.#remote?.watchFor({ user, deviceId }, here, registered)
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    return promise
  }

  #connections(): Set<DeviceConnection> {
    return new Set([...this.#keys.keys(), ...this.#conversations.keys()])
  }

  #forget(socket: DeviceConnection): void {
    const key = this.#keys.get(socket)
    this.#keys.delete(socket)
    if (key === undefined) return
    const left = (this.#socketsByName.get(key) ?? []).filter((other) => other !== socket)
    if (left.length > 0) this.#socketsByName.set(key, left)
    else this.#socketsByName.delete(key)
    this.#remote?.lostName(socket)
  }

  #here(which: WhichDevice): DeviceConnection | undefined {
    const socket =
      "deviceId" in which
        ? this.#socketsByName.get(keyOf(which.user, which.deviceId))?.at(-1)
        : this.#byConversation.get(which.conversation)
    return socket?.user === which.user ? socket : undefined
  }
}

const keyOf = (user: UserId, deviceId: string) => `${user} ${deviceId}`

const fitting = (socket: ConnectedDevice | undefined, { user, offer }: DevicePlace): ConnectedDevice | undefined =>
  socket && socket.user === user && socket.offers(offer) ? socket : undefined

/** For a call that was sent: its result is awaited even if the run stops. */
const NEVER = new AbortController().signal

/** Ids begin with their time. False for ids of the same moment. */
function isBefore(conversation: ConversationId, at: number): boolean {
  const length = "conv_".length + TIME_DIGITS
  return conversation.slice(0, length) < newId("conv", null, at).slice(0, length)
}

/** Nodes share one clock, which may jump after a failover; a call from around the reassignment counts as earlier. */
const CLOCK_MARGIN_MS = 10 * 60_000

/**
 * Whether the call may have gone to the previous owner of the device name, so that this device's ledger proves nothing. Ids
 * begin with their time.
 */
function mayBeOfPreviousOwner(callId: CallId, { introduced }: ConnectedDevice): boolean {
  const takenAt = introduced?.takenAt ?? null
  return takenAt !== null && callId <= newId("call", null, takenAt + CLOCK_MARGIN_MS)
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

function toError(
  ended: Exclude<CallEnd, CallOutcome> | Unreadable,
  { effect, signal }: DeviceCallOptions,
  ms: number,
): unknown {
  if (ended === "stopped") return signal.reason
  if (typeof ended === "object") {
    if (effect === "read") return new Error(`the device's answer cannot be read: ${ended.unreadable}`)
    const problem = `It was sent, but the device's answer cannot be read: ${ended.unreadable}.`
    return failure("outcome_unknown", { problem })
  }
  const how = ended === "closed" ? "the device was disconnected" : `the device did not answer within ${ms / 1000} s`
  if (effect === "read") return new Error(`${how}; try again when it is there`)
  // The ledger says that the call never arrived, so nothing was done.
  if (ended === "unknown") return new Error(`${how}, and says that it has not done it`)
  return failure("outcome_unknown", { problem: `It was sent, but ${how}, and it is unknown whether it was done.` })
}
