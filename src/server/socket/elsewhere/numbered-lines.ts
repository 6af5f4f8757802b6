import type { Log } from "../../../agent/ports.ts"
import type { ConversationId } from "../../../protocol/ids.ts"
import type { ArrivingDevice, DevicePresence, WhichDevice } from "../../../protocol/ports/device-presence.ts"
import type { DeviceConnection } from "../device-connection.ts"

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
      this.#ports.log.warn("device_not_noted", { error })
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
      .catch((error: unknown) => this.#ports.log.warn("device_not_taken_off", { error }))
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
