import type { Clock } from "../../../shared/time/clock.ts"
import {
  type ArrivingDevice,
  DEVICE_STATUS_SECONDS,
  DEVICE_WAY_SECONDS,
  type DevicePresence,
  type Introduced,
  type PresentDevice,
  type WhichDevice,
} from "../../../engine/devices.ts"
import type { NodeMessages } from "../../../protocol/node-messages.ts"
import { AppError, codeOf, failure } from "../../../protocol/errors.ts"
import type { UserId, ConversationId } from "../../../protocol/ids.ts"
import type { CallReport, ToolCall } from "../../../protocol/socket.ts"
import { nameOf, type Asking, type CallEnd, type DeviceLine, outcomeOf } from "../ask-device.ts"
import type { Heard, NodeAsks, OpenAsk } from "./node-asks.ts"
import type { Log } from "../../../shared/log.ts"
import type { DeviceConnection } from "../device-connection.ts"

/** The way to the other node and back. */
const WAY_MS = DEVICE_WAY_SECONDS * 1000
const STATUS_MS = DEVICE_STATUS_SECONDS * 1000

export interface RemotePorts {
  readonly asks: NodeAsks
  readonly messages: NodeMessages
  readonly clock: Clock
}

/** A device whose socket is at another node: asked by a word to that node, with the limits that hold here. */
export class RemoteLine implements DeviceLine {
  readonly number: number
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  /** It was, when it was found. */
  readonly open = true
  readonly #node: string
  readonly #ports: RemotePorts

  constructor({ number, node, user, lineage, introduced }: PresentDevice, ports: RemotePorts) {
    this.number = number
    this.user = user
    this.lineage = lineage
    this.introduced = introduced
    this.#node = node
    this.#ports = ports
  }

  offers(what: string): boolean {
    return this.introduced?.offers.includes(what) ?? what === "workspace"
  }

  async read(call: ToolCall, { ms, signal }: Asking): Promise<CallEnd> {
    const asked = { type: "device_read", line: this.number, call, ms } as const
    return this.#toEnd(await this.#ports.asks.ask(this.#node, asked, { ms: ms + WAY_MS, signal }))
  }

  async write(call: ToolCall, { ms, signal, unwanted = signal }: Asking): Promise<CallEnd> {
    const ticket = await this.#ticketFor(call.id, signal)
    const asked = this.#ports.asks.open(this.#node, { type: "device_write", ticket, call, ms })
    // A server that goes down still wants it: the next one asks what became of it.
    const stop = () => unwanted.reason === "shutdown" || asked.unwanted()
    unwanted.addEventListener("abort", stop, { once: true })
    if (unwanted.aborted) stop()
    // By then its node is asking the device itself. Ours is the question if that answer, or the first one, is lost.
    const late = this.#ports.clock.alarm(ms + WAY_MS, () => void this.#find(asked, call.id, { ms }))
    const heard = await asked.heard.finally(() => {
      late()
      unwanted.removeEventListener("abort", stop)
    })
    return this.#toEnd(heard)
  }

  async report(id: string): Promise<CallReport | undefined> {
    const asked = { type: "device_report", line: this.number, callId: id } as const
    const heard = await this.#ports.asks.ask(this.#node, asked, { ms: STATUS_MS + WAY_MS })
    return heard.is === "report" ? (heard.report ?? undefined) : undefined
  }

  /** It may be lost: whoever asked is told that they have to wait, and the person sees the request in their list. */
  tellOfClaim(status: "asked" | "allowed"): void {
    if (status !== "asked") return // who has lost a name learns it from its own node
    this.#ports.messages.send(this.#node, { type: "device_asked", line: this.number }).catch(() => {})
  }

  /** Until there is one nothing is sent, so whoever has stopped, or is no longer the writer, leaves nothing behind. */
  async #ticketFor(callId: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const asked = { type: "device_ticket", line: this.number, callId } as const
    const heard = await this.#ports.asks.ask(this.#node, asked, { ms: WAY_MS, signal })
    signal.throwIfAborted()
    if (heard.is === "ticket") return heard.ticket
    throw this.#offline()
  }

  /** The same as for a device that is connected here, by way of its node. The call stays open: its answer may be on its way. */
  async #find(asked: OpenAsk, id: string, { ms, again = true }: { ms: number; again?: boolean }): Promise<void> {
    const report = await this.report(id)
    if (report?.status === "running" && again) {
      const late = this.#ports.clock.alarm(ms, () => void this.#find(asked, id, { ms, again: false }), "background")
      void asked.heard.then(late)
      return
    }
    if (report?.status === "applied") return asked.end({ is: "outcome", outcome: outcomeOf(report) })
    // Its ticket has expired long since: what its ledger does not know it will never hear of.
    const how = report?.status === "unknown" && this.introduced?.ledger ? "unknown" : "silent"
    asked.end({ is: "ended", how })
  }

  #toEnd(heard: Heard): CallEnd {
    switch (heard.is) {
      case "outcome":
        return heard.outcome
      case "ended":
        return heard.how
      case "unreadable":
        return { unreadable: heard.problem }
      case "dead":
        return "closed"
      case "silence":
      case "ticket": // no answers to a call
      case "report":
        return "silent"
      case "refused":
        throw refusal(heard)
      case "absent":
      case "unsent":
      case "expired": // and not tried again: who is so late may have been given up by others
        throw this.#offline()
    }
  }

  #offline(): AppError {
    return failure("device_offline", { device: nameOf(this.introduced?.deviceId ?? null) })
  }
}

function refusal({ code, message }: { readonly code: string | null; readonly message: string }): Error {
  const known = codeOf({ code })
  return known ? new AppError(known, message) : new Error(message)
}

interface NumberPorts {
  readonly presence: DevicePresence
  readonly log: Log
}

/** What of a socket the record knows: one number for its name, and one for each conversation that it speaks in without. */
interface Numbers {
  name: number | undefined
  /** The name is on its way into the record; another object each time. */
  naming: object | undefined
  readonly conversations: Map<ConversationId, number>
}

/** The sockets of this process by the numbers that the record has given them. */
export class NumberedLines implements AsyncDisposable {
  readonly #ports: NumberPorts
  readonly #lines = new Map<number, DeviceConnection>()
  readonly #numbers = new Map<DeviceConnection, Numbers>()
  /** Changes of the record that are under way. */
  readonly #writes = new Set<Promise<void>>()

  constructor(ports: NumberPorts) {
    this.#ports = ports
  }

  lineOf(number: number): DeviceConnection | undefined {
    return this.#lines.get(number)
  }

  nameOf(line: DeviceConnection): number | undefined {
    return this.#numbers.get(line)?.name
  }

  of(line: DeviceConnection, which: WhichDevice): number | undefined {
    const numbers = this.#numbers.get(line)
    return "deviceId" in which ? numbers?.name : numbers?.conversations.get(which.conversation)
  }

  /** Where the record cannot be written it is here all the same, and is noted with the next repair. */
  async name(line: DeviceConnection): Promise<void> {
    const naming = {}
    this.#numbersOf(line).naming = naming
    try {
      await this.#note(line, naming)
      // It may have spoken before it said who it is: what it offers is known only now.
      for (const conversation of [...this.#numbersOf(line).conversations.keys()]) await this.speak(line, conversation)
    } catch (error) {
      this.#ports.log.warn("device_not_registered", { error })
    }
  }

  /** False where a socket of another credential is the device of that conversation. */
  async speak(line: DeviceConnection, conversation: ConversationId): Promise<boolean> {
    const number = await this.#ports.presence.speak(toArriving(line), conversation)
    if (number === undefined) return false
    const { conversations } = this.#numbersOf(line)
    const before = conversations.get(conversation)
    if (before !== undefined) this.#drop([before])
    if (!line.open) this.#drop([number])
    else {
      conversations.set(conversation, number)
      this.#lines.set(number, line)
    }
    this.#forgetIfEmpty(line)
    return true
  }

  lostName(line: DeviceConnection): void {
    const numbers = this.#numbers.get(line)
    if (!numbers) return
    if (numbers.name !== undefined) this.#drop([numbers.name])
    numbers.name = undefined
    numbers.naming = undefined
    this.#forgetIfEmpty(line)
  }

  left(line: DeviceConnection): void {
    this.lostName(line)
    const numbers = this.#numbers.get(line)
    if (!numbers) return
    this.#drop([...numbers.conversations.values()])
    numbers.conversations.clear()
    this.#forgetIfEmpty(line)
  }

  async repair(): Promise<void> {
    for (const [line, { name, naming }] of this.#numbers) {
      if (naming && name === undefined && line.open) await this.#note(line, naming)
    }
    await this.#ports.presence.repair()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writes)
  }

  /** Given up where the socket has gone, or got another name, while it was written. */
  async #note(line: DeviceConnection, naming: object): Promise<void> {
    const number = await this.#ports.presence.arrive(toArriving(line))
    const numbers = this.#numbers.get(line)
    if (numbers?.naming !== naming || numbers.name !== undefined || !line.open) return this.#drop([number])
    numbers.name = number
    this.#lines.set(number, line)
  }

  #drop(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    for (const number of numbers) this.#lines.delete(number)
    // A row that cannot be taken away now is found by the next repair; until then its number leads nowhere.
    const write = this.#ports.presence
      .leave(numbers)
      .catch((error: unknown) => this.#ports.log.warn("device_not_removed", { error }))
      .finally(() => this.#writes.delete(write))
    this.#writes.add(write)
  }

  #numbersOf(line: DeviceConnection): Numbers {
    let numbers = this.#numbers.get(line)
    if (!numbers) {
      numbers = { name: undefined, naming: undefined, conversations: new Map() }
      this.#numbers.set(line, numbers)
    }
    return numbers
  }

  #forgetIfEmpty(line: DeviceConnection): void {
    const numbers = this.#numbers.get(line)
    if (numbers && !numbers.naming && numbers.conversations.size === 0) this.#numbers.delete(line)
  }
}

const toArriving = ({ user, lineage, introduced, connectedAt }: DeviceConnection): ArrivingDevice => ({
  ...{ user, lineage, introduced, connectedAt },
})
