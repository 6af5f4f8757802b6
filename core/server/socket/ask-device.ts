import { createHash } from "node:crypto"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import {
  DEVICE_GRACE_SECONDS,
  type DeviceCall,
  type DeviceCallOptions,
  type DevicePlace,
  deviceSeconds,
  type Introduced,
} from "../../engine/devices.ts"
import { approvalText } from "../../protocol/calls/follow-calls.ts"
import { failure } from "../../protocol/errors.ts"
import { type CallId, type ConversationId, newId, TIME_DIGITS, type UserId } from "../../protocol/ids.ts"
import type { CallOutcome, ToolCall, CallReport } from "../../protocol/socket.ts"

type Found = DeviceLine | undefined

/** Where the sockets of devices are found. What is in this process is found at once, and asked before anything else happens. */
export interface DeviceLines {
  find(place: DevicePlace): Found | Promise<Found>
  /** The newest socket of a name. */
  newest(user: UserId, deviceId: string): Found | Promise<Found>
  /** The device's next socket, if it comes within the time of grace. `not`: any but this one. */
  comesBack(user: UserId, deviceId: string, waiting: { signal?: AbortSignal; not?: DeviceLine }): Promise<Found>
  /** The answer to a write that came when nobody waited for it any more. */
  lateAnswer(user: UserId, callId: CallId): CallOutcome | undefined
  /** No call of an earlier life that is still on its way here may arrive any more. */
  bar(callId: CallId): void
  /** True where another process may have let such a call through until now: from then on none does. */
  untilBarred(): Promise<boolean>
}

/** Signs what is sent to devices, so that a device can tell what the server has let through its gate. */
export interface ApprovalSigning {
  /** What a device verifies signatures with. */
  publicKeys(): Promise<readonly string[]>
  sign(text: string): Promise<readonly string[]>
}

export const GRACE_MS = DEVICE_GRACE_SECONDS * 1000

/** The rules by which a device is asked, wherever its socket is: how often, for how long, and what silence means. */
export class AskDevice {
  readonly #lines: DeviceLines
  readonly #clock: Clock
  readonly #signer: ApprovalSigning | undefined
  readonly #startedAt: { readonly monotonic: number; readonly day: number }
  #reads = 0

  constructor(lines: DeviceLines, clock: Clock, signer?: ApprovalSigning) {
    this.#lines = lines
    this.#signer = signer
    this.#clock = clock
    this.#startedAt = { monotonic: monotonicOf(clock), day: clock.now() }
  }

  async call(place: DevicePlace, { callId, ...asked }: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome> {
    const found = this.#lines.find(place)
    const line = (found instanceof Promise ? await found : found) ?? (await this.#afterStart(place, asking.signal))
    const [ms, { signal }] = [deviceSeconds(asking.seconds) * 1000, asking]
    if (asking.effect === "write") signal.throwIfAborted() // what has not begun when the work must stop never does
    const call = { type: "tool_call", ...asked, conversationId: place.conversation } as const
    const heard =
      asking.effect === "write"
        ? await this.#write(line, await this.#approved(line, { ...call, id: callId }, signal), { ms, signal })
        : await line.read({ ...call, id: `${callId}.${++this.#reads}` }, { ms, signal })
    if (typeof heard === "string" || isUnreadable(heard)) throw unheard(heard, asking, ms)
    if (heard.error !== undefined) throw new Error(heard.error.slice(0, 2000))
    return heard
  }

  async outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    const said = await this.#ask(place, callId)
    if (said !== "not-applied" || !(await this.#lines.untilBarred())) return said
    return this.#ask(place, callId)
  }

  async #ask(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied"> {
    const unknown = (problem: string) => failure("outcome_unknown", { problem })
    const late = this.#lines.lateAnswer(place.user, callId)
    if (late) return late.error === undefined ? late : "not-applied"
    // Which device it was sent to is known by its name alone, and one without a ledger knows only what it remembers.
    if (place.deviceId === null) throw unknown("The device it was sent to has no name, so it cannot be asked.")
    // Before the question: what came after it would make the answer untrue.
    this.#lines.bar(callId)
    const line = (await this.#lines.find(place)) ?? (await this.#lines.comesBack(place.user, place.deviceId, {}))
    if (!line) throw unknown(`${nameOf(place.deviceId)} is not connected, and only it knows whether this was done.`)
    const report = await line.report(callId)
    // Where its ledger says that it ended with an error nothing was done, and it may be tried again.
    if (report?.status === "applied") return report.error === undefined ? outcomeOf(report) : "not-applied"
    if (report?.status === "unknown" && line.introduced?.ledger && !isBeforeTaking(callId, line)) return "not-applied"
    throw unknown(`${nameOf(place.deviceId)} cannot say whether this was done.`)
  }

  /**
   * Right after the server's start devices are on their way back to conversations of the life before. They are waited for
   * as long as one that was cut off during a write; nothing has been sent yet.
   */
  async #afterStart(place: DevicePlace, signal: AbortSignal): Promise<DeviceLine> {
    const { user, conversation, deviceId } = place
    const age = monotonicOf(this.#clock) - this.#startedAt.monotonic
    if (deviceId === null || age >= GRACE_MS || !isBefore(conversation, this.#startedAt.day))
      throw failure("device_offline", { device: nameOf(deviceId) })
    await this.#lines.comesBack(user, deviceId, { signal })
    const line = await this.#lines.find(place)
    if (line) return line
    signal.throwIfAborted()
    const waited = `The server has just started and has waited ${DEVICE_GRACE_SECONDS} s for it, but the device "${deviceId}"`
    throw failure("device_offline", { device: waited })
  }

  /** Only the node that works on the conversation, and has passed its gate, comes here: others pass the call on as it is. */
  async #approved(line: DeviceLine, call: ToolCall, signal: AbortSignal): Promise<ToolCall> {
    const { deviceId, knows = [] } = line.introduced ?? {}
    if (!this.#signer || deviceId === undefined || !knows.includes("approvals")) return call
    const approvals = [...(await this.#signer.sign(approvalText(call, deviceId, sha256)))]
    // It may have ended, or the device left, meanwhile: nothing was sent yet.
    signal.throwIfAborted()
    if (!line.open) throw failure("device_offline", { device: nameOf(deviceId) })
    return approvals.length > 0 ? { ...call, approvals } : call
  }

  async #write(line: DeviceLine, call: ToolCall, asking: { ms: number; signal: AbortSignal }): Promise<CallEnd> {
    const { introduced, user } = line // as it was when the call was sent
    const heard = await line.write(call, asking)
    // Offered a second time only to a device that notes what it has done, and only to the same one.
    if (!introduced?.ledger || (heard !== "closed" && heard !== "silent")) return heard
    const { deviceId } = introduced
    const again = await (heard === "silent"
      ? this.#lines.newest(user, deviceId)
      : this.#lines.comesBack(user, deviceId, { not: line }))
    // A line that keeps silent may be dead, and the device here again on another one, where it can tell.
    if (!again || isSameLine(again, line)) return heard
    // Under another credential it may be another machine, whose ledger knows nothing of this call.
    if (!again.introduced?.ledger || again.lineage !== line.lineage) return heard
    // Where it cannot be offered again, nothing is known but that it was sent once.
    return again.write(call, { ...asking, signal: NEVER, unwanted: asking.signal }).catch(() => heard)
  }
}

/** What was sent once is asked about to its end, whoever has stopped waiting. */
const NEVER = new AbortController().signal

/** Ids begin with their time; of one from the same moment this says no. */
function isBefore(conversation: ConversationId, at: number): boolean {
  const length = "conv_".length + TIME_DIGITS
  return conversation.slice(0, length) < newId("conv", null, at).slice(0, length)
}

/** Nodes go by one clock, which is another after a failover; a call from around the taking counts as one from before it. */
const AROUND_MS = 10 * 60_000

/**
 * A call that may have gone to whoever was the device before this one. That this one knows nothing of it proves nothing.
 * An id begins with its time.
 */
function isBeforeTaking(callId: CallId, { introduced }: DeviceLine): boolean {
  const takenAt = introduced?.takenAt ?? null
  return takenAt !== null && callId <= newId("call", null, takenAt + AROUND_MS)
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const nameOf = (deviceId: string | null): string => (deviceId === null ? "A device" : `The device "${deviceId}"`)

function unheard(
  heard: Exclude<CallEnd, CallOutcome> | Unreadable,
  { effect, signal }: DeviceCallOptions,
  ms: number,
): unknown {
  if (heard === "stopped") return signal.reason
  if (typeof heard === "object") {
    if (effect === "read") return new Error(`the device's answer cannot be read: ${heard.unreadable}`)
    const problem = `It was sent, but the device's answer cannot be read: ${heard.unreadable}.`
    return failure("outcome_unknown", { problem })
  }
  const how = heard === "closed" ? "the device was disconnected" : `the device did not answer within ${ms / 1000} s`
  if (effect === "read") return new Error(`${how}; try again when it is there`)
  // Its ledger says so: it never came there, and nothing of it is under way.
  if (heard === "unknown") return new Error(`${how}, and says that it has not done it`)
  return failure("outcome_unknown", { problem: `It was sent, but ${how}, and it is unknown whether it was done.` })
}

/** The device answered, and its answer cannot be read: this is wrong with it. */
export interface Unreadable {
  readonly unreadable: string
}

/** How a call ended: with the device's word, or without one. */
export type CallEnd = CallOutcome | "closed" | "silent" | "stopped" | "unknown" | Unreadable

export const isUnreadable = (end: CallEnd): end is Unreadable => typeof end === "object" && "unreadable" in end

export interface Asking {
  readonly ms: number
  readonly signal: AbortSignal
  /** Of a write: when nobody wants it any more; the signal, where that is not said. */
  readonly unwanted?: AbortSignal
}

/** A socket that is a device, as whoever asks it sees it: one of this process, or of another. */
export interface DeviceLine {
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  readonly open: boolean
  /** Of one that is connected to another process: what the record calls it. */
  readonly number?: number
  offers(what: string): boolean
  /** Asks for something that may be asked again. */
  read(call: ToolCall, asking: Asking): Promise<CallEnd>
  /**
   * Asks for something that may not be lost sight of. What throws was not sent. The signal counts until it is: what was
   * sent is not taken back. A device that knows `cancel` is told that nobody wants it, and what it did is waited for.
   */
  write(call: ToolCall, asking: Asking): Promise<CallEnd>
  /** What the device says about a call; undefined where it says nothing. */
  report(id: string): Promise<CallReport | undefined>
  tellOfClaim(status: "asked" | "allowed"): void
}

export function isSameLine(one: DeviceLine | undefined, other: DeviceLine): boolean {
  return one === other || (one?.number !== undefined && one.number === other.number)
}

/** What of a report is the outcome of the call that it is about. */
export function outcomeOf({ type: _, id: __, status: ___, ...outcome }: CallReport): CallOutcome {
  return outcome
}
