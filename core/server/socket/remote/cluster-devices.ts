import { type Clock, sleep } from "../../../shared/time/clock.ts"
import type { NodeMessage, NodeMessages } from "../../../protocol/node-messages.ts"
import type { Log } from "../../../shared/log.ts"
import { failure } from "../../../protocol/errors.ts"
import type { CallId, ConversationId, UserId } from "../../../protocol/ids.ts"
import type { ArrivingDevice, DevicePresence, WhichDevice } from "../../../engine/devices.ts"
import type { DeviceConnection } from "../device-connection.ts"
import type { ConnectedDevice } from "../device-connection.ts"
import type { RemoteDevices } from "../device-connection.ts"
import type { Devices } from "../devices.ts"
import { IncomingRequests, OutgoingRequests, TICKET_TTL_MS } from "./node-requests.ts"
import { RegisteredSockets, RemoteDevice } from "./remote-device.ts"

/** How often the registry is compared with the local sockets. */
const REPAIR_MS = 2500
/** How often the registry is polled for a device that is awaited. */
const ARRIVAL_MS = 300
/** With a margin, because two clocks differ. */
const EXPIRED_MS = TICKET_TTL_MS + 1000

interface ClusterDevicePorts {
  readonly devices: Devices
  readonly presence: DevicePresence
  readonly messages: NodeMessages
  readonly clock: Clock
  readonly log: Log
}

/**
 * Makes the devices of all processes that share a database callable from each of them. A table records which node has which
 * socket; requests and answers are messages between nodes, which may be lost, late or duplicated.
 */
export class ClusterDevices implements RemoteDevices, AsyncDisposable {
  readonly #ports: ClusterDevicePorts
  readonly #numbers: RegisteredSockets
  readonly #outgoing: OutgoingRequests
  readonly #incoming: IncomingRequests
  readonly #closing = new AbortController()
  readonly #leave: (() => void)[]
  #repairing: Promise<void> | undefined
  #stopRepair: () => void = () => {}

  constructor(ports: ClusterDevicePorts) {
    this.#ports = ports
    const { devices, messages } = ports
    this.#numbers = new RegisteredSockets(ports)
    this.#outgoing = new OutgoingRequests(ports)
    this.#incoming = new IncomingRequests({ ...ports, socketOf: (number) => this.#numbers.socketOf(number) })
    this.#leave = [messages.subscribe((message, from) => this.#receive(message, from)), devices.join(this)]
    this.#repairLater()
  }

  registered(socket: DeviceConnection): Promise<void> {
    return this.#numbers.name(socket)
  }

  async bindConversation(conversation: ConversationId, socket: DeviceConnection): Promise<void> {
    if (!(await this.#numbers.speak(socket, conversation))) throw failure("device_taken", { device: conversation })
  }

  lostName(socket: DeviceConnection): void {
    this.#numbers.lostName(socket)
  }

  left(socket: DeviceConnection): void {
    this.#numbers.left(socket)
  }

  async newest(which: WhichDevice, here: DeviceConnection | undefined): Promise<ConnectedDevice | undefined> {
    const there = await this.#ports.presence.findElsewhere(which)
    if (!there) return here
    // A socket without a number is being registered, so it is the newest.
    const number = here && (this.#numbers.of(here, which) ?? Number.POSITIVE_INFINITY)
    if (here?.open && number !== undefined && number > there.number) return here
    return new RemoteDevice(there, { ...this.#ports, outgoing: this.#outgoing })
  }

  watchFor(
    which: WhichDevice,
    here: () => DeviceConnection | undefined,
    onDevice: (socket: ConnectedDevice) => void,
  ): () => void {
    const ending = new AbortController()
    const until = AbortSignal.any([ending.signal, this.#closing.signal])
    const watch = async () => {
      while (!until.aborted) {
        const socket = await this.newest(which, here()).catch(() => undefined) // retried in a moment
        if (socket?.open && !until.aborted) onDevice(socket)
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
    for (const socket of here) consider(this.#numbers.nameOf(socket) ?? Number.POSITIVE_INFINITY, socket)
    return [...newest.values()].sort((a, b) => b.number - a.number).map(({ device }) => device)
  }

  /** Each node notices within seconds by itself; the message is faster. Until then the table decides. */
  async reassignName(user: UserId, deviceId: string, lineage: string): Promise<void> {
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
    this.#incoming.bar(callId, this.#ports.messages.self)
  }

  /**
   * A node that had a ticket and has failed since sent its call before this. Waits until every ticket issued before now has
   * expired, so that what was not done will not be done.
   */
  async untilBarred(): Promise<boolean> {
    if (!(await this.#ports.presence.hasOthers())) return false
    await sleep(this.#ports.clock, EXPIRED_MS, this.#closing.signal)
    if (this.#closing.signal.aborted) throw failure("outcome_unknown", { problem: "The server is going down." })
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#stopRepair()
    await this.#repairing
    this.#outgoing[Symbol.dispose]()
    await this.#incoming[Symbol.asyncDispose]()
    for (const leave of this.#leave) leave()
    await this.#numbers[Symbol.asyncDispose]()
  }

  #receive(message: NodeMessage, from: string): void {
    switch (message.type) {
      case "device_answer":
        return this.#outgoing.receive(message, from)
      case "device_asked":
        return this.#numbers.socketOf(message.line)?.notifyClaim("asked")
      case "device_taken":
        return this.#ports.devices.reassignNameLocally(message.user, message.deviceId, message.lineage)
      default:
        return this.#incoming.receive(message, from)
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
