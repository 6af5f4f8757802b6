import type { Clock } from "../../shared/time/clock.ts"
import { type ArrivingDevice, DEVICE_STATUS_SECONDS, type Introduced, type WhichDevice } from "../../engine/devices.ts"
import { failure } from "../../protocol/errors.ts"
import type { CallId, ConversationId, UserId } from "../../protocol/ids.ts"
import type { CallOutcome, CallReport, ClientFrameOf, ServerFrame, ToolCall } from "../../protocol/socket.ts"

/** The device answered, but its answer is malformed in this way. */
export interface Unreadable {
  readonly unreadable: string
}

/** How a call ended: with an outcome, or without one. */
export type CallEnd = CallOutcome | "closed" | "silent" | "stopped" | "unknown" | Unreadable

export const isUnreadable = (end: CallEnd): end is Unreadable => typeof end === "object" && "unreadable" in end

export interface CallLimits {
  readonly ms: number
  readonly signal: AbortSignal
  /** For a write: aborts when the result is no longer needed. Default: `signal`. */
  readonly unwanted?: AbortSignal
}

/** A socket of a device, in this process or another. */
export interface ConnectedDevice {
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  readonly open: boolean
  /** Its number in the registry, if it is connected to another process. */
  readonly number?: number
  offers(what: string): boolean
  /** Sends a call that may be repeated. */
  read(call: ToolCall, asking: CallLimits): Promise<CallEnd>
  /**
   * Sends a call whose outcome must be known. If it throws, nothing was sent. `signal` counts until it is sent: a sent call
   * is not revoked. A device that knows `cancel` is notified, and its result is awaited.
   */
  write(call: ToolCall, asking: CallLimits): Promise<CallEnd>
  /** The device's report about a call; undefined if it does not answer. */
  report(id: string): Promise<CallReport | undefined>
  notifyClaim(status: "asked" | "allowed"): void
}

export function isSameDevice(one: ConnectedDevice | undefined, other: ConnectedDevice): boolean {
  return one === other || (one?.number !== undefined && one.number === other.number)
}

/** The outcome in a report. */
export function outcomeOf({ type: _, id: __, status: ___, ...outcome }: CallReport): CallOutcome {
  return outcome
}

export const nameOf = (deviceId: string | null): string => (deviceId === null ? "A device" : `The device "${deviceId}"`)

/** The owner of a socket: the person, and what consecutive credentials of one program have in common. */
interface LineOwner {
  readonly user: UserId
  readonly lineage: string
}

/** A status question about a call, shared by all who ask it. */
interface Question {
  readonly answer: Promise<CallReport | undefined>
  settle(report: CallReport | undefined): void
}

interface FrameSender {
  send(frame: ServerFrame): void
}

/** Most open calls on one socket. */
const MAX = 256

/** A socket of a device, with its open calls. A result counts once, and only on the socket that the call was sent to. */
export class DeviceConnection implements ConnectedDevice {
  readonly user: UserId
  readonly lineage: string
  readonly connectedAt: number
  readonly #sender: FrameSender
  readonly #clock: Clock
  readonly #calls = new Map<string, (ended: CallEnd) => void>()
  readonly #questions = new Map<string, Question>()
  /** Calls that were given up; a result may still arrive and may be large. For writes the call is stored. */
  readonly #unanswered = new Map<string, ToolCall | undefined>()
  /** Called with the result of a write that was given up. Returns whether it was accepted. */
  onLateResult: (call: ToolCall, outcome: CallOutcome) => boolean = () => false
  readonly #onAnswered: (() => void)[] = []
  #introduced: Introduced | undefined
  #lostName = false
  #open = true

  constructor({ user, lineage }: LineOwner, sender: FrameSender, clock: Clock) {
    this.user = user
    this.lineage = lineage
    this.#sender = sender
    this.#clock = clock
    this.connectedAt = clock.now()
  }

  get introduced(): Introduced | undefined {
    return this.#introduced
  }

  get open(): boolean {
    return this.#open
  }

  /** How many calls and status questions are open. */
  get waiting(): number {
    return this.#calls.size + this.#questions.size
  }

  /** Resolves when no call is open. */
  answered(): Promise<void> {
    return this.#calls.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onAnswered.push(resolve))
  }

  /** Whether a requested result may still arrive. */
  get expectsAnswer(): boolean {
    return this.#calls.size + this.#questions.size + this.#unanswered.size > 0
  }

  introduce(hello: ClientFrameOf<"hello">, takenAt: number | null = null): Introduced {
    const { deviceId, ledger = false, offers, knows = [] } = hello
    this.#introduced = { deviceId, ledger, offers, knows, takenAt }
    this.#lostName = false
    return this.#introduced
  }

  /** Notifies the device that another credential asks to use its name, or got it. */
  notifyClaim(status: "asked" | "allowed"): void {
    if (this.#introduced) this.#sender.send({ type: "device_claim", deviceId: this.#introduced.deviceId, status })
  }

  /** Another credential owns the name now: this socket no longer acts as the device. */
  loseName(): void {
    this.notifyClaim("allowed")
    this.#introduced = undefined
    this.#lostName = true
  }

  /** A socket without `hello` is an older client, which has a workspace. */
  offers(what: string): boolean {
    return this.#introduced?.offers.includes(what) ?? (what === "workspace" && !this.#lostName)
  }

  /** Sends a call that may be repeated: no answer in time counts as none. */
  read(call: ToolCall, { ms, signal }: CallLimits): Promise<CallEnd> {
    const stop = () => {
      this.#sendCancel(call.id, signal)
      this.#settle(call.id, "stopped")
    }
    signal.addEventListener("abort", stop, { once: true })
    const ended = this.#send(call, () => this.#settle(call.id, "silent"), ms, "read")
    if (signal.aborted) stop()
    return ended.finally(() => signal.removeEventListener("abort", stop))
  }

  /** Sends a call whose outcome must be known: without an answer in time the device is asked for its status. */
  write(call: ToolCall, { ms, signal, unwanted = signal }: CallLimits): Promise<CallEnd> {
    const ended = this.#send(call, () => void this.#findOutcome(call.id, ms), ms, "write")
    const stop = () => this.#sendCancel(call.id, unwanted)
    unwanted.addEventListener("abort", stop, { once: true })
    if (unwanted.aborted) stop()
    return ended.finally(() => unwanted.removeEventListener("abort", stop))
  }

  report(id: string): Promise<CallReport | undefined> {
    if (!this.#open) return Promise.resolve(undefined)
    const pending = this.#questions.get(id)
    if (pending) return pending.answer // one answer serves all who ask
    const { promise, resolve } = Promise.withResolvers<CallReport | undefined>()
    const settle = (report: CallReport | undefined) => {
      giveUp()
      this.#questions.delete(id)
      resolve(report)
    }
    const giveUp = this.#clock.alarm(DEVICE_STATUS_SECONDS * 1000, () => settle(undefined))
    this.#questions.set(id, { answer: promise, settle })
    this.#sender.send({ type: "tool_status", id })
    return promise
  }

  /** False if the frame answers nothing that was sent here. */
  receive(frame: ClientFrameOf<"tool_result"> | ClientFrameOf<"tool_status">): boolean {
    if (frame.type === "tool_result") {
      const { type: _, id, ...outcome } = frame
      return this.#settle(id, outcome) || this.#receiveLate(id, outcome)
    }
    const pending = this.#questions.get(frame.id)
    pending?.settle(frame)
    return pending !== undefined
  }

  /** Fails the call that a malformed result names. False if it names none that was sent here. */
  failUnreadable(text: string, problem: string): boolean {
    const isNamed = (id: string) => text.includes(JSON.stringify(id))
    const question = [...this.#questions.keys()].find(isNamed)
    this.#questions.get(question ?? "")?.settle(undefined)
    const id = [...this.#calls.keys()].find(isNamed)
    if (id !== undefined) return this.#settle(id, { unreadable: problem })
    return question !== undefined || [...this.#unanswered.keys()].some(isNamed)
  }

  close(): void {
    this.#open = false
    for (const id of [...this.#calls.keys()]) this.#settle(id, "closed")
    for (const pending of [...this.#questions.values()]) pending.settle(undefined)
  }

  /** The result of a write in doubt resolves it, whenever it arrives. */
  #receiveLate(id: string, outcome: CallOutcome): boolean {
    if (!this.#unanswered.has(id)) return false
    const call = this.#unanswered.get(id)
    this.#unanswered.delete(id)
    return call !== undefined && this.onLateResult(call, outcome) // a read has failed by now
  }

  /** Not when the server shuts down: the next one asks for the status. */
  #sendCancel(id: string, { reason }: AbortSignal): void {
    if (reason === "shutdown" || !this.#calls.has(id) || !this.#introduced?.knows.includes("cancel")) return
    this.#sender.send({ type: "tool_cancel", id })
  }

  #send(call: ToolCall, onTimeout: () => void, ms: number, effect: "read" | "write"): Promise<CallEnd> {
    if (!this.#open) return Promise.resolve("closed")
    // A retry of a call that is still open: it is not sent twice. The first attempt gets the result.
    if (this.#calls.has(call.id)) return Promise.resolve("silent")
    if (this.#calls.size >= MAX) return Promise.reject(failure("too_many", { what: "calls to one device", most: MAX }))
    const { promise, resolve } = Promise.withResolvers<CallEnd>()
    const cancelTimer = this.#clock.alarm(ms, onTimeout)
    this.#calls.set(call.id, (ended) => {
      cancelTimer()
      if (typeof ended === "string") setBounded(this.#unanswered, [call.id, effect === "write" ? call : undefined], MAX)
      resolve(ended)
    })
    this.#sender.send(call)
    return promise
  }

  /** Asks for a call's status. The call stays open, because its result may be on its way. */
  async #findOutcome(id: string, ms: number, mayRepeat = true): Promise<void> {
    if (!this.#calls.has(id)) return // answered during the second wait
    const report = await this.report(id)
    if (!this.#calls.has(id)) return
    if (report?.status === "running" && mayRepeat) {
      this.#clock.alarm(ms, () => void this.#findOutcome(id, ms, false), "background")
      return
    }
    if (report?.status === "applied") this.#settle(id, outcomeOf(report))
    else this.#settle(id, report?.status === "unknown" && this.#introduced?.ledger ? "unknown" : "silent")
  }

  #settle(id: string, ended: CallEnd): boolean {
    const settle = this.#calls.get(id)
    this.#calls.delete(id)
    settle?.(ended)
    if (this.#calls.size === 0) for (const resolve of this.#onAnswered.splice(0)) resolve()
    return settle !== undefined
  }
}

/** Most stored results, and the size of one. They are fetched as soon as they arrive. */
const MAX_ANSWERS = 256
const MAX_CHARACTERS = 256 * 1024

/** Results of writes that arrived after their call was given up. Until one is claimed, its write is in doubt. */
export class UnclaimedResults {
  readonly #answers = new Map<string, CallOutcome>()

  /** False if it is too large to be stored. */
  add(user: UserId, callId: CallId, outcome: CallOutcome): boolean {
    if (JSON.stringify(outcome).length > MAX_CHARACTERS) return false
    setBounded(this.#answers, [`${user} ${callId}`, outcome], MAX_ANSWERS)
    return true
  }

  find(user: UserId, callId: CallId): CallOutcome | undefined {
    return this.#answers.get(`${user} ${callId}`)
  }
}

/** Adds an entry to a map of at most `most` entries; the oldest is removed. */
function setBounded<Key, Value>(noted: Map<Key, Value>, [key, value]: readonly [Key, Value], most: number): void {
  noted.delete(key)
  noted.set(key, value)
  for (const oldest of noted.keys()) {
    if (noted.size <= most) return
    noted.delete(oldest)
  }
}

/** The services of other processes with the same database that this process's devices use. */
export interface RemoteDevices {
  /** Resolves when other processes can find it by name. */
  registered(socket: DeviceConnection): Promise<void>
  /** Throws `device_taken` if an open socket of another credential is the device of that conversation on any node. */
  bindConversation(conversation: ConversationId, socket: DeviceConnection): Promise<void>
  /** The socket lost its name. */
  lostName(socket: DeviceConnection): void
  left(socket: DeviceConnection): void
  /** The newest socket of the device, here or on another node. */
  newest(which: WhichDevice, here: DeviceConnection | undefined): Promise<ConnectedDevice | undefined>
  /** Calls back with each open socket of that device. The returned function stops the watch. */
  watchFor(
    which: WhichDevice,
    here: () => DeviceConnection | undefined,
    onDevice: (socket: ConnectedDevice) => void,
  ): () => void
  /** The named devices of a person on all nodes, including the local ones passed in; the newest first. */
  listAll(user: UserId, here: readonly DeviceConnection[]): Promise<readonly ArrivingDevice[]>
  reassignName(user: UserId, deviceId: string, lineage: string): Promise<void>
  bar(callId: CallId): void
  untilBarred(): Promise<boolean>
}
