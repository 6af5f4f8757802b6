import type { Clock } from "../../../shared/time/clock.ts"
import {
  type ArrivingDevice,
  DEVICE_STATUS_SECONDS,
  DEVICE_ROUND_TRIP_SECONDS,
  type DevicePresence,
  type Introduced,
  type PresentDevice,
  type WhichDevice,
} from "../../../engine/devices.ts"
import type { NodeMessages } from "../../../protocol/node-messages.ts"
import { AppError, codeOf, failure } from "../../../protocol/errors.ts"
import type { UserId, ConversationId } from "../../../protocol/ids.ts"
import type { CallReport, ToolCall } from "../../../protocol/socket.ts"
import { nameOf, type CallLimits, type CallEnd, type ConnectedDevice, outcomeOf } from "../device-connection.ts"
import type { NodeReply, OutgoingRequests, OpenRequest } from "./node-requests.ts"
import type { Log } from "../../../shared/log.ts"
import type { DeviceConnection } from "../device-connection.ts"

/** The round trip to the other node. */
const TRANSIT_MS = DEVICE_ROUND_TRIP_SECONDS * 1000
const STATUS_MS = DEVICE_STATUS_SECONDS * 1000

interface RemotePorts {
  readonly outgoing: OutgoingRequests
  readonly messages: NodeMessages
  readonly clock: Clock
}

/** A device socket on another node. Calls travel through that node, with the timeouts of this one. */
export class RemoteDevice implements ConnectedDevice {
  readonly number: number
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  /** It was when it was found. */
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

  async read(call: ToolCall, { ms, signal }: CallLimits): Promise<CallEnd> {
    const request = { type: "device_read", line: this.number, call, ms } as const
    return this.#toEnd(await this.#ports.outgoing.ask(this.#node, request, { ms: ms + TRANSIT_MS, signal }))
  }

  async write(call: ToolCall, { ms, signal, unwanted = signal }: CallLimits): Promise<CallEnd> {
    const ticket = await this.#requestTicket(call.id, signal)
    const request = this.#ports.outgoing.open(this.#node, { type: "device_write", ticket, call, ms })
    // Not when the server shuts down: the next one asks for the status.
    const stop = () => unwanted.reason === "shutdown" || request.unwanted()
    unwanted.addEventListener("abort", stop, { once: true })
    if (unwanted.aborted) stop()
    // By now its node is asking the device itself. This question covers a lost answer.
    const late = this.#ports.clock.alarm(ms + TRANSIT_MS, () => void this.#findOutcome(request, call.id, { ms }))
    const reply = await request.reply.finally(() => {
      late()
      unwanted.removeEventListener("abort", stop)
    })
    return this.#toEnd(reply)
  }

  async report(id: string): Promise<CallReport | undefined> {
    const request = { type: "device_report", line: this.number, callId: id } as const
    const reply = await this.#ports.outgoing.ask(this.#node, request, { ms: STATUS_MS + TRANSIT_MS })
    return reply.is === "report" ? (reply.report ?? undefined) : undefined
  }

  /** May be lost: the requester waits anyway, and the person sees the request in a list. */
  notifyClaim(status: "asked" | "allowed"): void {
    if (status !== "asked") return // a socket that lost its name is notified by its own node
    this.#ports.messages.send(this.#node, { type: "device_asked", line: this.number }).catch(() => {})
  }

  /** The call is sent only after the ticket arrives, so a run that stopped or lost its lease leaves nothing behind. */
  async #requestTicket(callId: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const request = { type: "device_ticket", line: this.number, callId } as const
    const reply = await this.#ports.outgoing.ask(this.#node, request, { ms: TRANSIT_MS, signal })
    signal.throwIfAborted()
    if (reply.is === "ticket") return reply.ticket
    throw this.#offline()
  }

  /** Like `DeviceConnection.#findOutcome`, through the other node. The call stays open: its result may be on its way. */
  async #findOutcome(
    request: OpenRequest,
    id: string,
    { ms, mayRepeat = true }: { ms: number; mayRepeat?: boolean },
  ): Promise<void> {
    const report = await this.report(id)
    if (report?.status === "running" && mayRepeat) {
      const late = this.#ports.clock.alarm(
        ms,
        () => void this.#findOutcome(request, id, { ms, mayRepeat: false }),
        "background",
      )
      void request.reply.then(late)
      return
    }
    if (report?.status === "applied") return request.end({ is: "outcome", outcome: outcomeOf(report) })
    // Its ticket has expired: a call that the ledger does not contain will never arrive.
    const how = report?.status === "unknown" && this.introduced?.ledger ? "unknown" : "silent"
    request.end({ is: "ended", how })
  }

  #toEnd(reply: NodeReply): CallEnd {
    switch (reply.is) {
      case "outcome":
        return reply.outcome
      case "ended":
        return reply.how
      case "unreadable":
        return { unreadable: reply.problem }
      case "dead":
        return "closed"
      case "silence":
      case "ticket": // not an answer to a call
      case "report":
        return "silent"
      case "refused":
        throw refusal(reply)
      case "absent":
      case "unsent":
      case "expired": // not retried: a sender that is so late may have lost its lease
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

/** The registry's numbers of a socket: one for its name, and one for each conversation that it serves without a name. */
interface Numbers {
  name: number | undefined
  /** Set while the name is being registered; a new object for each attempt. */
  naming: object | undefined
  readonly conversations: Map<ConversationId, number>
}

/** The local sockets by their numbers in the registry. */
export class RegisteredSockets implements AsyncDisposable {
  readonly #ports: NumberPorts
  readonly #socketsByNumber = new Map<number, DeviceConnection>()
  readonly #numbers = new Map<DeviceConnection, Numbers>()
  /** Writes to the registry in progress. */
  readonly #writes = new Set<Promise<void>>()

  constructor(ports: NumberPorts) {
    this.#ports = ports
  }

  socketOf(number: number): DeviceConnection | undefined {
    return this.#socketsByNumber.get(number)
  }

  nameOf(socket: DeviceConnection): number | undefined {
    return this.#numbers.get(socket)?.name
  }

  of(socket: DeviceConnection, which: WhichDevice): number | undefined {
    const numbers = this.#numbers.get(socket)
    return "deviceId" in which ? numbers?.name : numbers?.conversations.get(which.conversation)
  }

  /** If the registry cannot be written, the next repair retries. */
  async name(socket: DeviceConnection): Promise<void> {
    const naming = {}
    this.#numbersOf(socket).naming = naming
    try {
      await this.#register(socket, naming)
      // It may have served a conversation before its `hello`, which contains its offers.
      for (const conversation of [...this.#numbersOf(socket).conversations.keys()])
        await this.speak(socket, conversation)
    } catch (error) {
      this.#ports.log.warn("device_not_registered", { error })
    }
  }

  /** False if a socket of another credential is the device of that conversation. */
  async speak(socket: DeviceConnection, conversation: ConversationId): Promise<boolean> {
    const number = await this.#ports.presence.speak(toArriving(socket), conversation)
    if (number === undefined) return false
    const { conversations } = this.#numbersOf(socket)
    const before = conversations.get(conversation)
    if (before !== undefined) this.#drop([before])
    if (!socket.open) this.#drop([number])
    else {
      conversations.set(conversation, number)
      this.#socketsByNumber.set(number, socket)
    }
    this.#forgetIfEmpty(socket)
    return true
  }

  lostName(socket: DeviceConnection): void {
    const numbers = this.#numbers.get(socket)
    if (!numbers) return
    if (numbers.name !== undefined) this.#drop([numbers.name])
    numbers.name = undefined
    numbers.naming = undefined
    this.#forgetIfEmpty(socket)
  }

  left(socket: DeviceConnection): void {
    this.lostName(socket)
    const numbers = this.#numbers.get(socket)
    if (!numbers) return
    this.#drop([...numbers.conversations.values()])
    numbers.conversations.clear()
    this.#forgetIfEmpty(socket)
  }

  async repair(): Promise<void> {
    for (const [socket, { name, naming }] of this.#numbers) {
      if (naming && name === undefined && socket.open) await this.#register(socket, naming)
    }
    await this.#ports.presence.repair()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writes)
  }

  /** Discarded if the socket closed or changed its name during the write. */
  async #register(socket: DeviceConnection, naming: object): Promise<void> {
    const number = await this.#ports.presence.arrive(toArriving(socket))
    const numbers = this.#numbers.get(socket)
    if (numbers?.naming !== naming || numbers.name !== undefined || !socket.open) return this.#drop([number])
    numbers.name = number
    this.#socketsByNumber.set(number, socket)
  }

  #drop(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    for (const number of numbers) this.#socketsByNumber.delete(number)
    // A row that cannot be removed now is removed by the next repair; until then its number leads nowhere.
    const write = this.#ports.presence
      .leave(numbers)
      .catch((error: unknown) => this.#ports.log.warn("device_not_removed", { error }))
      .finally(() => this.#writes.delete(write))
    this.#writes.add(write)
  }

  #numbersOf(socket: DeviceConnection): Numbers {
    let numbers = this.#numbers.get(socket)
    if (!numbers) {
      numbers = { name: undefined, naming: undefined, conversations: new Map() }
      this.#numbers.set(socket, numbers)
    }
    return numbers
  }

  #forgetIfEmpty(socket: DeviceConnection): void {
    const numbers = this.#numbers.get(socket)
    if (numbers && !numbers.naming && numbers.conversations.size === 0) this.#numbers.delete(socket)
  }
}

const toArriving = ({ user, lineage, introduced, connectedAt }: DeviceConnection): ArrivingDevice => ({
  ...{ user, lineage, introduced, connectedAt },
})
