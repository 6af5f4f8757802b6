import type { StatusPart, HistoryMessage, Model, ModelRequest, ReplyPart } from "../../engine/model.ts"
import { HANDED_OFF } from "../../engine/definition/agent.ts"
import { failure } from "../../protocol/errors.ts"
import { type Script, UNCOUNTED } from "./script.ts"
import { checkRequest } from "./check-request.ts"

/** A scripted reply, or a function that creates one from the request. */
export type ScriptedReply = Script | ((request: ModelRequest) => Script)

/**
 * Creates a model for tests that plays one scripted reply per request. It throws if a request would be rejected by a
 * provider.
 *
 * @example
 * const model = scripted(says("One."), says("Two."))
 * await using pawl = await openPawl({ store: ":memory:", models: model })
 * console.log((await pawl.ask("Count.")).text, model.received.length) // One. 1
 */
export function scripted(...replies: readonly ScriptedReply[]): ScriptedModel {
  return new ScriptedModel(replies)
}

/**
 * Repeats the reply for all remaining requests. Use it as the last reply of a script.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(always(says("Yes."))) })
 * await pawl.ask("Really?")
 * console.log((await pawl.ask("Really?")).text) // Yes.
 */
export function always(reply: ScriptedReply): ScriptedReply {
  const make = typeof reply === "function" ? reply : () => reply
  return Object.assign((request: ModelRequest) => make(request), { repeats: true })
}

/**
 * Selects the reply by the number of replies that the conversation has, instead of the number of requests. The script
 * then fits a process that continues after a crash, and several conversations at once.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(byTurn(says("One."), says("Two."))) })
 * const [first, second] = [await pawl.ask("Count."), await pawl.ask("Count.")] // two conversations
 * console.log(first.text, second.text) // One. One.
 */
export function byTurn(...script: readonly ScriptedReply[]): ScriptedReply {
  return playedBy(script, ({ history }) => history.filter(({ role }) => role === "assistant").length)
}

function playedBy(script: readonly ScriptedReply[], turnOf: (request: ModelRequest) => number): ScriptedReply {
  return always((request) => {
    const turn = turnOf(request)
    const reply = script[turn] ?? script.findLast((each) => typeof each === "function" && "repeats" in each)
    if (!reply) throw scriptEnded(request, { replies: script.length, at: turn + 1 })
    return typeof reply === "function" ? reply(request) : reply
  })
}

/**
 * A script for each agent by its name, each used as by `byTurn`: for agents that use other agents. After a handoff the
 * replies of each agent count separately.
 *
 * @example
 * const agents = [{ name: "poet" }, { name: "clerk" }]
 * const models = scripted(byAgent({ poet: [says("A rose.")], clerk: [says("Noted.")] }))
 * await using pawl = await openPawl({ store: ":memory:", agents, models })
 * console.log((await pawl.ask("Hi.", { agent: "clerk" })).text) // Noted.
 */
export function byAgent(scripts: Readonly<Record<string, readonly ScriptedReply[]>>): ScriptedReply {
  const replies = new Map(Object.entries(scripts).map(([agent, script]) => [agent, playedBy(script, ownReplies)]))
  return always((request) => {
    const reply = replies.get(request.agent ?? "") ?? byTurn()
    return typeof reply === "function" ? reply(request) : reply
  })
}

/** The number of replies of the agent that is asked: each handoff in the history names the agent that replied before. */
function ownReplies({ agent, history }: ModelRequest): number {
  let [own, sinceHandoff] = [0, 0]
  for (const turn of history) {
    if (turn.role === "assistant") sinceHandoff++
    if (turn.role !== "tool") continue
    const from = turn.results.map(({ text }) => HANDED_OFF.exec(text)?.[1]).find((name) => name !== undefined)
    if (from === undefined) continue
    if (from === agent) own += sinceHandoff
    sinceHandoff = 0
  }
  return own + sinceHandoff
}

const scriptEnded = (request: ModelRequest, { replies, at }: { readonly replies: number; readonly at: number }) =>
  failure("script_ended", {
    ...{ replies, request: at, agent: request.agent },
    last: JSON.stringify(request.history.at(-1) ?? null).slice(0, 300),
  })

/** A request that the model received, as it was when it was sent: later messages of the conversation are not in it. */
export class ReceivedRequest {
  readonly request: ModelRequest

  constructor(request: ModelRequest) {
    this.request = { ...request, history: [...request.history] }
  }

  get history(): readonly HistoryMessage[] {
    return this.request.history
  }
}

/** A model for tests that plays scripted replies. Create it with `scripted`; `received` has the requests so far. */
export class ScriptedModel implements Model {
  name = "scripted"
  provider = "scripted"
  contextTokens = 200_000
  /** The files that the model accepts directly. It gets other files as text. */
  sees = { images: false, files: false }
  /** All requests so far, in order. */
  readonly received: ReceivedRequest[] = []
  readonly #replies: readonly ScriptedReply[]
  #next = 0
  #arrival = Promise.withResolvers<void>()

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = replies
  }

  /** Resolves when the model has received this many requests. */
  async requests(count: number): Promise<void> {
    while (this.received.length < count) await this.#arrival.promise
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPart | StatusPart> {
    this.received.push(new ReceivedRequest(request))
    this.#arrival.resolve()
    this.#arrival = Promise.withResolvers()
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
      throw scriptEnded(request, { replies: this.#replies.length, at: this.received.length })
    }
    if (typeof reply !== "function") {
      this.#next++
      return reply
    }
    if (!("repeats" in reply)) this.#next++
    return reply(request)
  }
}

type Result = IteratorResult<ReplyPart | StatusPart, undefined>

const DONE: Promise<Result> = Promise.resolve({ done: true, value: undefined })

/** Written without an async generator, which takes three times as long per part; benchmarks count parts. */
class Playback implements AsyncIterableIterator<ReplyPart | StatusPart, undefined> {
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
