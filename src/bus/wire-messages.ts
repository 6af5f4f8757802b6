import type { NodeMessages } from "../agent/runtime/node-messages.ts"
import type { Log } from "../agent/ports.ts"
import { NodeMessage } from "../protocol/ports/node-message.ts"
import { parsedLetter } from "./node-words.ts"
import type { Wire } from "./wire.ts"

type Listener = Parameters<NodeMessages["subscribe"]>[0]

interface Ports {
  /** How a message goes to whom the wire does not reach: slower, and it waits there. */
  readonly mail: NodeMessages
  readonly log: Log
}

/**
 * Messages to one process at once, by a wire, where it is there and says that it has the message; by mail otherwise, also
 * where that is not known: whoever gets a message twice does nothing twice.
 */
export class WireMessages implements NodeMessages {
  readonly #wire: Wire
  readonly #ports: Ports
  readonly #listeners = new Set<Listener>()

  constructor(wire: Wire, ports: Ports) {
    this.#wire = wire
    this.#ports = ports
    wire.onDelivery((text) => this.#hear(text))
  }

  get self(): string {
    return this.#wire.self
  }

  async send(to: string, message: NodeMessage): Promise<boolean> {
    const text = JSON.stringify({ from: this.self, words: [message] })
    const delivery = await this.#wire.deliver(to, text)
    if (delivery === "taken") return true
    const isMailed = await this.#ports.mail.send(to, message)
    // It may have come by the wire: whoever says now that it was surely not sent would be wrong.
    return isMailed || delivery === "unknown"
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    const leave = this.#ports.mail.subscribe(listener)
    return () => {
      this.#listeners.delete(listener)
      leave()
    }
  }

  #hear(text: string): void {
    const letter = parsedLetter(text)
    const { data, error } = NodeMessage.safeParse(letter?.words[0])
    // Of a node of another version: it may say things that are not known here.
    if (!letter || !data) return this.#ports.log.warn("mail_not_understood", { sender: letter?.from, error })
    for (const listener of this.#listeners) listener(data, letter.from)
  }
}
