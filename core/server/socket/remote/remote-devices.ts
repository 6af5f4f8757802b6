import { type Clock, sleep } from "../../../shared/time/clock.ts"
import type { NodeMessage, NodeMessages } from "../../../protocol/node-messages.ts"
import type { Log } from "../../../shared/log.ts"
import { failure } from "../../../protocol/errors.ts"
import type { CallId, ConversationId, UserId } from "../../../protocol/ids.ts"
import type { ArrivingDevice, DevicePresence, WhichDevice } from "../../../engine/devices.ts"
import type { DeviceConnection } from "../device-connection.ts"
import type { DeviceLine } from "../ask-device.ts"
import type { Devices, LinesElsewhere } from "../devices.ts"
import { AskedHere, NodeAsks, TICKET_LIFE_MS } from "./node-asks.ts"
import { NumberedLines, RemoteLine } from "./remote-line.ts"

/** How often the record is compared with what is connected here. */
const REPAIR_MS = 2500
/** How often it is looked whether a device that is waited for has come to another node. */
const ARRIVAL_MS = 300
/** Two clocks do not run alike to the last millisecond. */
const SURELY_EXPIRED_MS = TICKET_LIFE_MS + 1000

export interface ElsewhereDevicePorts {
  readonly devices: Devices
  readonly presence: DevicePresence
  readonly messages: NodeMessages
  readonly clock: Clock
  readonly log: Log
}

/**
 * Makes the devices of all processes that share a database reachable from each of them. Who is where is a record in the
 * database; what is asked, and answered, is a word between two nodes, which may be lost, late or doubled.
 */
export class DevicesElsewhere implements LinesElsewhere, AsyncDisposable {
  readonly #ports: ElsewhereDevicePorts
  readonly #numbers: NumberedLines
  readonly #asks: NodeAsks
  readonly #asked: AskedHere
  readonly #closing = new AbortController()
  readonly #leave: (() => void)[]
  #repairing: Promise<void> | undefined
  #stopRepair: () => void = () => {}

  constructor(ports: ElsewhereDevicePorts) {
    this.#ports = ports
    const { devices, messages } = ports
    this.#numbers = new NumberedLines(ports)
    this.#asks = new NodeAsks(ports)
    this.#asked = new AskedHere({ ...ports, lineOf: (number) => this.#numbers.lineOf(number) })
    this.#leave = [messages.subscribe((message, from) => this.#hear(message, from)), devices.join(this)]
    this.#repairLater()
  }

  arrived(line: DeviceConnection): Promise<void> {
    return this.#numbers.name(line)
  }

  async speaks(conversation: ConversationId, line: DeviceConnection): Promise<void> {
    if (!(await this.#numbers.speak(line, conversation))) throw failure("device_taken", { device: conversation })
  }

  lostName(line: DeviceConnection): void {
    this.#numbers.lostName(line)
  }

  left(line: DeviceConnection): void {
    this.#numbers.left(line)
  }

  async newest(which: WhichDevice, here: DeviceConnection | undefined): Promise<DeviceLine | undefined> {
    const there = await this.#ports.presence.findElsewhere(which)
    if (!there) return here
    // One that has no number yet is on its way into the record: nobody has come later.
    const number = here && (this.#numbers.of(here, which) ?? Number.POSITIVE_INFINITY)
    if (here?.open && number !== undefined && number > there.number) return here
    return new RemoteLine(there, { ...this.#ports, asks: this.#asks })
  }

  watchFor(which: WhichDevice, here: () => DeviceConnection | undefined, tell: (line: DeviceLine) => void): () => void {
    const ending = new AbortController()
    const until = AbortSignal.any([ending.signal, this.#closing.signal])
    const watch = async () => {
      while (!until.aborted) {
        const line = await this.newest(which, here()).catch(() => undefined) // asked again in a moment
        if (line?.open && !until.aborted) tell(line)
        await sleep(this.#ports.clock, ARRIVAL_MS, until)
      }
    }
    void watch()
    return () => ending.abort()
  }

  async listAll(user: UserId, here: readonly DeviceConnection[]): Promise<readonly ArrivingDevice[]> {
    const newest = new Map<string, { readonly number: number; readonly device: ArrivingDevice }>()
    const consider = (number: number, device: ArrivingDevice) => {
      const name = device.introduced?.deviceId ?? ""
      if ((newest.get(name)?.number ?? 0) < number) newest.set(name, { number, device })
    }
    for (const device of await this.#ports.presence.listElsewhere(user)) consider(device.number, device)
    for (const line of here) consider(this.#numbers.nameOf(line) ?? Number.POSITIVE_INFINITY, line)
    return [...newest.values()].sort((a, b) => b.number - a.number).map(({ device }) => device)
  }

  /** Each node learns it by itself within seconds; told, at once. Until then the record says whose the device is. */
  async taken(user: UserId, deviceId: string, lineage: string): Promise<void> {
    const { presence, messages, log } = this.#ports
    try {
      const nodes = await presence.nodesWithOthers(user, deviceId, lineage)
      const message = { type: "device_taken", user, deviceId, lineage } as const
      await Promise.all(nodes.map((node) => messages.send(node, message)))
    } catch (error) {
      log.warn("claim_not_sent", { error })
    }
  }

  bar(callId: CallId): void {
    this.#asked.bar(callId, this.#ports.messages.self)
  }

  /**
   * Whoever had a ticket from another node and is dead by now has sent its call before this: once no ticket from before
   * can count any more, what has not been done will not be.
   */
  async untilBarred(): Promise<boolean> {
    if (!(await this.#ports.presence.hasOthers())) return false
    await sleep(this.#ports.clock, SURELY_EXPIRED_MS, this.#closing.signal)
    if (this.#closing.signal.aborted) throw failure("outcome_unknown", { problem: "The server is going down." })
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#stopRepair()
    await this.#repairing
    this.#asks[Symbol.dispose]()
    await this.#asked[Symbol.asyncDispose]()
    for (const leave of this.#leave) leave()
    await this.#numbers[Symbol.asyncDispose]()
  }

  #hear(message: NodeMessage, from: string): void {
    switch (message.type) {
      case "device_answer":
        return this.#asks.hear(message, from)
      case "device_asked":
        return this.#numbers.lineOf(message.line)?.tellOfClaim("asked")
      case "device_taken":
        return this.#ports.devices.takenHere(message.user, message.deviceId, message.lineage)
      default:
        return this.#asked.hear(message, from)
    }
  }

  #repairLater(): void {
    const { clock, log } = this.#ports
    const round = () => {
      this.#repairing = this.#numbers
        .repair()
        .catch((error: unknown) => log.warn("presence_not_repaired", { error }))
        .finally(() => this.#closing.signal.aborted || this.#repairLater())
    }
    this.#stopRepair = clock.alarm(REPAIR_MS, round, "background")
  }
}
