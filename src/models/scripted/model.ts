import type { BesidePart, HistoryMessage, Model, ModelRequest, ReplyPart } from "../../agent/model.ts"
import { type Script, UNCOUNTED } from "./script.ts"
import { checkRequest } from "./check-request.ts"

/** A reply, or a function that makes one of the request. */
export type ScriptedReply = Script | ((request: ModelRequest) => Script)

/** A model that plays prepared replies, one a request, for tests of agents. It refuses a request no provider would take. */
export function scripted(...replies: readonly ScriptedReply[]): ScriptedModel {
  return new ScriptedModel(replies)
}

/** The last of a script's replies, for every request that is left. */
export function always(reply: ScriptedReply): ScriptedReply {
  const make = typeof reply === "function" ? reply : () => reply
  return Object.assign((request: ModelRequest) => make(request), { repeats: true })
}

/** What the model was asked. The history grows after the request, so it is shown as long as it was. */
export class ReceivedRequest {
  readonly request: ModelRequest
  readonly historyLength: number

  constructor(request: ModelRequest) {
    this.request = request
    this.historyLength = request.history.length
  }

  get history(): readonly HistoryMessage[] {
    return this.request.history.slice(0, this.historyLength)
  }
}

export class ScriptedModel implements Model {
  name = "scripted"
  provider = "scripted"
  contextTokens = 200_000
  /** Every request so far, in order. */
  readonly received: ReceivedRequest[] = []
  readonly #replies: readonly ScriptedReply[]
  #next = 0

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = replies
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPart | BesidePart> {
    this.received.push(new ReceivedRequest(request))
    try {
      checkRequest(request, this.name)
      return new Playback(this.#take(request), signal)
    } catch (error) {
      return new Playback({ parts: [], end: { type: "fail", error: error as Error } }, signal)
    }
  }

  #take(request: ModelRequest): Script {
    const reply = this.#replies[this.#next]
    if (!reply) {
      throw new Error(
        `The script has ${this.#replies.length} replies and request ${this.received.length} finds none left. ` +
          `It ends with: ${JSON.stringify(request.history.at(-1))?.slice(0, 300)}`,
      )
    }
    if (typeof reply !== "function") {
      this.#next++
      return reply
    }
    if (!("repeats" in reply)) this.#next++
    return reply(request)
  }
}

type Result = IteratorResult<ReplyPart | BesidePart, undefined>

const DONE: Promise<Result> = Promise.resolve({ done: true, value: undefined })

/** Written out because an async generator costs three times as much a part, and benchmarks count parts. */
class Playback implements AsyncIterableIterator<ReplyPart | BesidePart, undefined> {
  readonly #script: Script
  readonly #signal: AbortSignal
  #index = 0
  #over = false

  constructor(script: Script, signal: AbortSignal) {
    this.#script = script
    this.#signal = signal
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#over) return DONE
    if (this.#signal.aborted) return this.#fail(this.#signal.reason)
    const part = this.#script.parts[this.#index++]
    if (!part) return this.#end()
    if (part.type === "finish") this.#over = true
    return Promise.resolve({ done: false, value: part })
  }

  return(): Promise<Result> {
    this.#over = true
    return DONE
  }

  #end(): Promise<Result> {
    const { end, parts } = this.#script
    switch (end.type) {
      case "stop": {
        this.#over = true
        const finish = parts.some((part) => part.type === "call") ? "calls" : "stop"
        return Promise.resolve({ done: false, value: { type: "finish", finish, usage: UNCOUNTED } })
      }
      case "break":
        return this.return()
      case "fail":
        return this.#fail(end.error)
      case "hang":
        return new Promise((_, reject) => {
          this.#signal.addEventListener("abort", () => reject(this.#signal.reason), { once: true })
        })
    }
  }

  #fail(reason: unknown): Promise<never> {
    this.#over = true
    return Promise.reject(reason)
  }
}
