import {
  type Addressee,
  type Delivery,
  ALL_NODES,
  MAX_MESSAGE,
  type BusTransport,
  type TransportReceiver,
} from "../../core/bus/wire.ts"

/** A wire between processes that all run in this one; a test drops messages, duplicates them, or cuts it. */
export class LossyNet {
  readonly #wires = new Map<string, LossyWire>()
  /** Returns how often a message is delivered. */
  copies: (text: string, to: string) => number = () => 1

  join(name: string): LossyWire {
    const wire = new LossyWire(name, this)
    this.#wires.set(name, wire)
    return wire
  }

  wire(name: string): LossyWire {
    const wire = this.#wires.get(name)
    if (!wire) throw new Error(`Nobody here is ${name}.`)
    return wire
  }

  carry(from: string, to: Addressee, text: string): void {
    for (const [name, wire] of this.#wires) {
      if (name === from || (to !== ALL_NODES && to !== name)) continue
      for (let left = this.copies(text, name); left > 0; left--) wire.hear(text)
    }
  }
}

export class LossyWire implements BusTransport {
  readonly self: string
  readonly #net: LossyNet
  #up = true
  #receiver: TransportReceiver | undefined

  constructor(self: string, net: LossyNet) {
    this.self = self
    this.#net = net
  }

  get up(): boolean {
    return this.#up
  }

  readonly lagMs = 0
  readonly unconfirmed = 0
  readonly room = MAX_MESSAGE

  turn(up: boolean): void {
    this.#up = up
    this.#receiver?.changed()
  }

  send(to: Addressee, text: string): void {
    if (this.#up) this.#net.carry(this.self, to, text)
  }

  hear(text: string): void {
    if (this.#up) this.#receiver?.received(text)
  }

  setReceiver(receiver: TransportReceiver): void {
    this.#receiver = receiver
  }

  async deliver(): Promise<Delivery> {
    return "nobody"
  }

  onDelivery(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.turn(false)
  }
}
