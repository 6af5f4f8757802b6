import type { AssistantTurn, CallResult, HistoryMessage, ModelRequest, ToolTurn } from "../../engine/model.ts"
import { failure } from "../../protocol/errors.ts"
import type { CallPart } from "../../protocol/conversation/message.ts"

/**
 * Throws, with the position and the reason, if a strict provider would reject the request: a call without a result in
 * the next turn, a result without a call, a repeated id, turns in the wrong order, an empty turn, thinking without a
 * reply after it or, if `model` is passed, thinking of another model.
 *
 * @example
 * const { signal } = new AbortController()
 * const request = { system: "", history: [{ role: "user", text: "Hi." }], tools: [], toolChoice: "auto", signal } as const
 * checkRequest(request) // throws if a provider would refuse this request
 * console.log("ok") // ok
 */
export function checkRequest({ history, tools }: ModelRequest, model?: string): void {
  const progress = checked.get(history) ?? new Progress()
  // Removed during the check, so that a rejected history is checked from its start the next time.
  checked.delete(history)
  for (; progress.length < history.length; progress.length++) {
    progress.check(history[progress.length] as HistoryMessage, progress.length)
  }
  const last = history.at(-1)
  if (!last) throw broken(0, "there are no messages at all")
  if (last.role === "assistant") {
    throw broken(history.length - 1, "the last message is the model's own; it must be words of a person or results")
  }
  if (progress.ids.size > 0 && tools.length === 0) {
    throw malformed("Broken request: the history holds calls but no tools are declared, which some providers refuse.")
  }
  for (const [thinker, index] of progress.thinkers) {
    if (model !== undefined && thinker !== model) throw broken(index, `thinking of ${thinker} is shown to ${model}`)
  }
  checked.set(history, progress)
}

/** A history only grows, so each message is checked once, however often the history is sent. */
const checked = new WeakMap<readonly HistoryMessage[], Progress>()

class Progress {
  length = 0
  readonly ids = new Set<string>()
  /** The models whose thinking is in the history, with the first position. */
  readonly thinkers = new Map<string, number>()
  #open: readonly CallPart[] = []

  check(message: HistoryMessage, index: number): void {
    if (message.role === "tool") return this.#checkResults(message, index)
    if (this.#open.length > 0)
      throw broken(index, `a ${message.role} turn stands where the results of ${names(this.#open)} belong`)
    if (index === 0 && message.role !== "user")
      throw broken(index, `it opens with a turn of the ${message.role}, not of a person`)
    if (message.role === "assistant") return this.#checkReply(message, index)
    if (message.text.trim() === "") throw broken(index, "the words of the person are empty")
    if (message.files && message.files.items.length !== message.shown?.length)
      throw broken(index, "a file of the user is neither shown nor mentioned")
    if (message.shown?.some((file) => file.text.trim() === "" || (file.type === "bytes" && file.bytes.length === 0)))
      throw broken(index, "a file of the person is empty")
  }

  #checkReply(turn: AssistantTurn, index: number): void {
    const { parts } = turn
    if (parts.length === 0) throw broken(index, "the reply is empty")
    if (parts.some((part) => part.type === "text" && part.text.trim() === ""))
      throw broken(index, "a text of the reply is blank")
    if (parts.at(-1)?.type === "reasoning") throw broken(index, "the reply ends with thinking that leads to nothing")
    for (const part of parts) {
      if (part.type === "reasoning" && !this.thinkers.has(part.model)) this.thinkers.set(part.model, index)
    }
    this.#checkCalls(turn, index)
  }

  #checkCalls({ parts }: AssistantTurn, index: number): void {
    this.#open = parts.filter((part) => part.type === "call")
    for (const { id, name, input } of this.#open) {
      if (!name) throw broken(index, `the call ${id} has no tool name`)
      if (this.ids.has(id)) throw broken(index, `the call id ${id} (${name}) is used twice`)
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        throw broken(index, `the arguments of ${id} (${name}) are not an object: ${JSON.stringify(input)}`)
      }
      this.ids.add(id)
    }
  }

  #checkResults({ results, shown = [] }: ToolTurn, index: number): void {
    const calls = this.#open
    if (results.reduce((sum, result) => sum + (result?.files?.items.length ?? 0), 0) !== shown.length)
      throw broken(index, "a file of a result is neither shown nor mentioned")
    if (calls.length === 0) throw broken(index, "results without calls directly before them")
    if (results.length !== calls.length) {
      throw broken(index, `${results.length} result(s) for ${calls.length} call(s): ${names(calls)}`)
    }
    for (const [at, call] of calls.entries()) {
      const result = results[at] as CallResult | undefined
      if (!result) throw broken(index, `the place of the result of ${call.id} (${call.name}) is empty`)
      if (result.callId !== call.id) {
        throw broken(index, `place ${at} belongs to ${call.id} (${call.name}) but holds the result of ${result.callId}`)
      }
      if (result.name !== call.name)
        throw broken(index, `${call.id} called ${call.name} but its result says ${result.name}`)
      if (typeof result.text !== "string") throw broken(index, `the result of ${call.id} (${call.name}) has no text`)
    }
    this.#open = []
  }
}

const names = (calls: readonly CallPart[]): string => calls.map(({ id, name }) => `${id} (${name})`).join(", ")

const broken = (index: number, problem: string) => malformed(`Broken history at message ${index}: ${problem}.`)

const malformed = (problem: string) => failure("request_malformed", { problem })
