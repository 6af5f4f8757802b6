import { randomUUID } from "node:crypto"
import type { Clock } from "../../../agent/clock.ts"
import type { NodeMessages } from "../../../agent/runtime/node-messages.ts"
import type { Log } from "../../../agent/ports.ts"
import type { DevicePresence } from "../../../protocol/ports/device-presence.ts"
import type { DeviceAnswer, NodeMessageOf } from "../../../protocol/ports/node-message.ts"

type Question = NodeMessageOf<"device_read" | "device_ticket" | "device_write" | "device_report">
export type Asked = { [Type in Question["type"]]: Omit<NodeMessageOf<Type>, "id"> }[Question["type"]]

/** What another node answers; or why it does not: it was struck off, it cannot have got the question, or it says nothing. */
export type Heard = DeviceAnswer | { readonly is: "dead" | "unsent" | "silence" }

/** A question that is under way. */
export interface OpenAsk {
  readonly heard: Promise<Heard>
  /** Ends the waiting, with this. */
  end(heard: Heard): void
  /** Tells the other node that nobody wants it any more. What it did is still waited for. */
  unwanted(): void
}

interface Waiting {
  readonly node: string
  /** How often its node was not among the living. */
  missed: number
  settle(heard: Heard): void
}

interface AskPorts {
  readonly messages: NodeMessages
  readonly presence: Pick<DevicePresence, "living">
  readonly clock: Clock
  readonly log: Log
}

/** How often it is looked whether those are alive whose answer is waited for. */
const LOOK_MS = 1000
/** An answer may have been on its way when its sender was struck off: it has until the second look to arrive. */
const LOOKS = 2

/** Questions to other nodes. Each has one answer; what comes twice, or when nobody waits any more, belongs to nobody. */
export class NodeAsks implements Disposable {
  readonly #ports: AskPorts
  readonly #waiting = new Map<string, Waiting>()
  #stopLooking: (() => void) | undefined
  #closed = false

  constructor(ports: AskPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#waiting.size
  }

  open(node: string, asked: Asked): OpenAsk {
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<Heard>()
    const settle = (heard: Heard) => {
      this.#waiting.delete(id)
      resolve(heard)
    }
    if (this.#closed) return { heard: Promise.resolve({ is: "unsent" }), end: settle, unwanted() {} }
    this.#waiting.set(id, { node, missed: 0, settle })
    const { messages, log } = this.#ports
    messages.send(node, { ...asked, id }).then(
      (handed) => handed || settle({ is: "unsent" }),
      (error: unknown) => log.warn("ask_not_sent", { error }), // perhaps it was: then an answer comes
    )
    this.#look()
    const unwanted = () => {
      if (this.#waiting.has(id)) this.#tellToStop(node, id)
    }
    const stops = asked.type === "device_read"
    const end = (heard: Heard) => {
      if (stops) unwanted()
      settle(heard)
    }
    return { heard: promise, end, unwanted }
  }

  /** Waits for the answer for so long, or until the signal says that nobody wants it. */
  async ask(node: string, asked: Asked, { ms, signal }: { ms: number; signal?: AbortSignal }): Promise<Heard> {
    const { heard, end } = this.open(node, asked)
    const stop = () => end({ is: "ended", how: "stopped" })
    const giveUp = this.#ports.clock.alarm(ms, () => end({ is: "silence" }))
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    try {
      return await heard
    } finally {
      giveUp()
      signal?.removeEventListener("abort", stop)
    }
  }

  hear({ id, answer }: NodeMessageOf<"device_answer">, from: string): void {
    const waiting = this.#waiting.get(id)
    if (waiting?.node === from) waiting.settle(answer)
  }

  [Symbol.dispose](): void {
    this.#closed = true
    this.#stopLooking?.()
    for (const { settle } of [...this.#waiting.values()]) settle({ is: "silence" })
  }

  #tellToStop(node: string, id: string): void {
    this.#ports.messages.send(node, { type: "device_stop", id }).catch(() => {}) // it ends by itself, only later
  }

  /** As long as anybody waits. */
  #look(): void {
    if (this.#stopLooking || this.#closed) return
    const round = () => {
      this.#lookOnce()
        .catch((error: unknown) => this.#ports.log.warn("nodes_not_looked_at", { error }))
        .then(() => {
          this.#stopLooking = undefined
          if (this.#waiting.size > 0) this.#look()
        })
        .catch(() => {})
    }
    this.#stopLooking = this.#ports.clock.alarm(LOOK_MS, round, "background")
  }

  async #lookOnce(): Promise<void> {
    const nodes = new Set([...this.#waiting.values()].map(({ node }) => node))
    const living = await this.#ports.presence.living([...nodes])
    for (const waiting of [...this.#waiting.values()]) {
      if (!nodes.has(waiting.node)) continue // asked since
      waiting.missed = living.has(waiting.node) ? 0 : waiting.missed + 1
      if (waiting.missed >= LOOKS) waiting.settle({ is: "dead" })
    }
  }
}
