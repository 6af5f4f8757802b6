import type { Clock } from "../../shared/time/clock.ts"
import { DEVICE_STATUS_SECONDS, type Introduced } from "../../engine/devices.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId, CallId } from "../../protocol/ids.ts"
import type { CallOutcome, CallReport, ClientFrameOf, ServerFrame, ToolCall } from "../../protocol/socket.ts"
import { type Asking, type CallEnd, type DeviceLine, outcomeOf } from "./ask-device.ts"

/** Whose a socket is: the person, and what their credential has in common with those that follow it. */
export interface LineOwner {
  readonly user: UserId
  readonly lineage: string
}

/** What a device was asked about a call, by however many. */
interface Question {
  readonly answer: Promise<CallReport | undefined>
  settle(report: CallReport | undefined): void
}

interface FrameSender {
  send(frame: ServerFrame): void
}

/** Calls that may be open on one socket. */
const MAX = 256

/**
 * One socket as a device: what was asked over it and not answered yet. An answer counts once, and only here, where it
 * was asked for; everything else that looks like one belongs to nobody.
 */
export class DeviceConnection implements DeviceLine {
  readonly user: UserId
  readonly lineage: string
  readonly connectedAt: number
  readonly #mouth: FrameSender
  readonly #clock: Clock
  readonly #calls = new Map<string, (heard: CallEnd) => void>()
  readonly #questions = new Map<string, Question>()
  /** Calls that ended without an answer: it may still come, and may then be as large as any other. Writes are noted. */
  readonly #unanswered = new Map<string, ToolCall | undefined>()
  /** Called when a write that was given up is answered after all. Returns whether the answer counts. */
  onLateAnswer: (call: ToolCall, outcome: CallOutcome) => boolean = () => false
  readonly #onAnswered: (() => void)[] = []
  #introduced: Introduced | undefined
  #lostName = false
  #open = true

  constructor({ user, lineage }: LineOwner, mouth: FrameSender, clock: Clock) {
    this.user = user
    this.lineage = lineage
    this.#mouth = mouth
    this.#clock = clock
    this.connectedAt = clock.now()
  }

  get introduced(): Introduced | undefined {
    return this.#introduced
  }

  get open(): boolean {
    return this.#open
  }

  /** How many calls and questions wait for an answer. */
  get waiting(): number {
    return this.#calls.size + this.#questions.size
  }

  /** Resolves when no call waits for an answer; at once if none does. */
  answered(): Promise<void> {
    return this.#calls.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onAnswered.push(resolve))
  }

  /** Whether an answer may come that was asked for. */
  get expectsAnswer(): boolean {
    return this.#calls.size + this.#questions.size + this.#unanswered.size > 0
  }

  introduce(hello: ClientFrameOf<"hello">, takenAt: number | null = null): Introduced {
    const { deviceId, ledger = false, offers, knows = [] } = hello
    this.#introduced = { deviceId, ledger, offers, knows, takenAt }
    this.#lostName = false
    return this.#introduced
  }

  /** Another credential wants to be this device, or is by now. */
  tellOfClaim(status: "asked" | "allowed"): void {
    if (this.#introduced) this.#mouth.send({ type: "device_claim", deviceId: this.#introduced.deviceId, status })
  }

  /** Its name is another credential's now: what it says in that name, and agrees to, would count for the other machine. */
  loseName(): void {
    this.tellOfClaim("allowed")
    this.#introduced = undefined
    this.#lostName = true
  }

  /** One that has not introduced itself is an older client: it has a workspace, or it would not have asked. */
  offers(what: string): boolean {
    return this.#introduced?.offers.includes(what) ?? (what === "workspace" && !this.#lostName)
  }

  /** Asks for something that may be asked again: whoever does not answer in time has not answered. */
  read(call: ToolCall, { ms, signal }: Asking): Promise<CallEnd> {
    const stop = () => {
      this.#tellUnwanted(call.id, signal)
      this.#settle(call.id, "stopped")
    }
    signal.addEventListener("abort", stop, { once: true })
    const heard = this.#send(call, () => this.#settle(call.id, "silent"), ms, "read")
    if (signal.aborted) stop()
    return heard.finally(() => signal.removeEventListener("abort", stop))
  }

  /** Asks for something that may not be lost sight of: without an answer in time the device is asked what became of it. */
  write(call: ToolCall, { ms, signal, unwanted = signal }: Asking): Promise<CallEnd> {
    const heard = this.#send(call, () => void this.#find(call.id, ms), ms, "write")
    const stop = () => this.#tellUnwanted(call.id, unwanted)
    unwanted.addEventListener("abort", stop, { once: true })
    if (unwanted.aborted) stop()
    return heard.finally(() => unwanted.removeEventListener("abort", stop))
  }

  /** What the device says about a call; undefined where it says nothing. */
  report(id: string): Promise<CallReport | undefined> {
    if (!this.#open) return Promise.resolve(undefined)
    const asked = this.#questions.get(id)
    if (asked) return asked.answer // one answer comes, and it is for both
    const { promise, resolve } = Promise.withResolvers<CallReport | undefined>()
    const settle = (report: CallReport | undefined) => {
      giveUp()
      this.#questions.delete(id)
      resolve(report)
    }
    const giveUp = this.#clock.alarm(DEVICE_STATUS_SECONDS * 1000, () => settle(undefined))
    this.#questions.set(id, { answer: promise, settle })
    this.#mouth.send({ type: "tool_status", id })
    return promise
  }

  /** False where nobody has asked for it here. */
  hear(frame: ClientFrameOf<"tool_result"> | ClientFrameOf<"tool_status">): boolean {
    if (frame.type === "tool_result") {
      const { type: _, id, ...outcome } = frame
      return this.#settle(id, outcome) || this.#hearLate(id, outcome)
    }
    const asked = this.#questions.get(frame.id)
    asked?.settle(frame)
    return asked !== undefined
  }

  /** Fails the call that such an answer is for, and no other. False if it is for none that was asked here. */
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
    for (const asked of [...this.#questions.values()]) asked.settle(undefined)
  }

  /** The answer to a write in doubt: it says what became of it, whenever it comes. */
  #hearLate(id: string, outcome: CallOutcome): boolean {
    if (!this.#unanswered.has(id)) return false
    const call = this.#unanswered.get(id)
    this.#unanswered.delete(id)
    return call !== undefined && this.onLateAnswer(call, outcome) // a read has failed by now
  }

  /** A server that goes down still wants it: the next one asks what became of it. */
  #tellUnwanted(id: string, { reason }: AbortSignal): void {
    if (reason === "shutdown" || !this.#calls.has(id) || !this.#introduced?.knows.includes("cancel")) return
    this.#mouth.send({ type: "tool_cancel", id })
  }

  #send(call: ToolCall, late: () => void, ms: number, effect: "read" | "write"): Promise<CallEnd> {
    if (!this.#open) return Promise.resolve("closed")
    // Tried again while it is under way: not sent twice, and no failure either. What became of it is the first one's to hear.
    if (this.#calls.has(call.id)) return Promise.resolve("silent")
    if (this.#calls.size >= MAX) return Promise.reject(failure("too_many", { what: "calls to one device", most: MAX }))
    const { promise, resolve } = Promise.withResolvers<CallEnd>()
    const takeBack = this.#clock.alarm(ms, late)
    this.#calls.set(call.id, (heard) => {
      takeBack()
      if (typeof heard === "string") noteNewest(this.#unanswered, [call.id, effect === "write" ? call : undefined], MAX)
      resolve(heard)
    })
    this.#mouth.send(call)
    return promise
  }

  /** The call stays open meanwhile: its answer may be on its way. */
  async #find(id: string, ms: number, again = true): Promise<void> {
    if (!this.#calls.has(id)) return // answered while we waited once more
    const report = await this.report(id)
    if (!this.#calls.has(id)) return
    if (report?.status === "running" && again) {
      this.#clock.alarm(ms, () => void this.#find(id, ms, false), "background")
      return
    }
    if (report?.status === "applied") this.#settle(id, outcomeOf(report))
    else this.#settle(id, report?.status === "unknown" && this.#introduced?.ledger ? "unknown" : "silent")
  }

  #settle(id: string, heard: CallEnd): boolean {
    const settle = this.#calls.get(id)
    this.#calls.delete(id)
    settle?.(heard)
    if (this.#calls.size === 0) for (const resolve of this.#onAnswered.splice(0)) resolve()
    return settle !== undefined
  }
}

/** How many answers wait in memory, and how large each may be. They are asked for as soon as they arrive. */
const MAX_ANSWERS = 256
const MAX_CHARACTERS = 256 * 1024

/**
 * Answers to writes that came when nobody waited for them any more. Each says what became of its write, which is in doubt
 * until then, so whoever asks about the write is answered from here first.
 */
export class LateAnswers {
  readonly #answers = new Map<string, CallOutcome>()

  /** False if it is too large to be stored. */
  add(user: UserId, callId: CallId, outcome: CallOutcome): boolean {
    if (JSON.stringify(outcome).length > MAX_CHARACTERS) return false
    noteNewest(this.#answers, [`${user} ${callId}`, outcome], MAX_ANSWERS)
    return true
  }

  find(user: UserId, callId: CallId): CallOutcome | undefined {
    return this.#answers.get(`${user} ${callId}`)
  }
}

/** Adds an entry to a map that holds at most so many: the oldest one goes. */
export function noteNewest<Key, Value>(
  noted: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  noted.delete(key)
  noted.set(key, value)
  for (const oldest of noted.keys()) {
    if (noted.size <= most) return
    noted.delete(oldest)
  }
}
