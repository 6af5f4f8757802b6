import type { Model, ModelRequest, Price, ReplyPart } from "../../../core/engine/model.ts"
import type { PaidBy, Usage } from "../../../core/protocol/conversation/message.ts"

export interface Pricing {
  readonly price?: Price | null
  readonly paidBy?: PaidBy
  readonly usage?: Usage
  /** Each reply waits for this before it ends. */
  readonly gate?: Promise<unknown>
}

export const PRICE: Price = { input: 4, output: 20, cached: 0.4, cacheWrite: 5 }
export const USAGE: Usage = { inputTokens: 1000, outputTokens: 100, cachedTokens: 400, cacheWriteTokens: 100 }
/** 500 × 4 + 400 × 0.4 + 100 × 5 + 100 × 20 millionths of a dollar. */
export const COST = 0.00466

/** A model with a price: it calls `look` if the message says "look", and answers otherwise. */
export class Priced implements Model {
  readonly name = "priced"
  readonly provider = "test"
  readonly contextTokens = 200_000
  readonly price: Price | null
  readonly paidBy: PaidBy
  readonly requests: ModelRequest[] = []
  readonly #usage: Usage
  readonly #gate: Promise<unknown> | undefined

  constructor({ price = PRICE, paidBy = "shared", usage = USAGE, gate }: Pricing = {}) {
    this.price = price
    this.paidBy = paidBy
    this.#usage = usage
    this.#gate = gate
  }

  async *stream(request: ModelRequest): AsyncGenerator<ReplyPart> {
    this.requests.push(request)
    const last = request.history.at(-1)
    const looks = request.history.some((turn) => turn.role === "user" && turn.text.includes("for ever"))
    if (looks || (last?.role === "user" && last.text.includes("look"))) {
      yield { type: "call", name: "look", input: JSON.stringify({ q: String(this.requests.length) }) }
      return yield { type: "finish", finish: "calls", usage: this.#usage }
    }
    yield { type: "text", text: "Words that were shown." }
    await this.#gate
    yield { type: "finish", finish: "stop", usage: this.#usage }
  }
}
