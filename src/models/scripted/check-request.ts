import type { AssistantTurn, CallResult, HistoryMessage, ModelRequest, ToolTurn } from "../../agent/model.ts"
import type { CallPart } from "../../protocol/conversation/message.ts"

/**
 * Throws, with the place and the reason, where a strict provider would refuse a request: calls without their result in
 * the turn behind them, results without a call, an id used twice, turns out of order, turns that say nothing, thinking
 * that leads to nothing or, where the reader's name is given, is another model's. Promise 7 as a test.
 */
export function checkRequest({ history, tools }: ModelRequest, model?: string): void {
  const progress = checked.get(history) ?? new Progress()
  // Taken out while the rest is looked at: a history that was refused once is read from its start the next time.
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
    throw new Error("Broken request: the history holds calls but no tools are declared, which some providers refuse.")
  }
  for (const [thinker, index] of progress.thinkers) {
    if (model !== undefined && thinker !== model) throw broken(index, `thinking of ${thinker} is shown to ${model}`)
  }
  checked.set(history, progress)
}

/** A history only grows, so each message of it is looked at once, however often it is sent. */
const checked = new WeakMap<readonly HistoryMessage[], Progress>()

class Progress {
  length = 0
  readonly ids = new Set<string>()
  /** Whose thinking stands in it, and where for the first time. */
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
      throw broken(index, "a file of the person is neither shown nor told of")
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
      throw broken(index, "a file of a result is neither shown nor told of")
    if (calls.length === 0) throw broken(index, "results without calls directly before them")
    if (results.length !== calls.length) {
      throw broken(index, `${results.length} result(s) for ${calls.length} call(s): ${names(calls)}`)
    }
    for (const [place, call] of calls.entries()) {
      const result = results[place] as CallResult | undefined
      if (!result) throw broken(index, `the place of the result of ${call.id} (${call.name}) is empty`)
      if (result.callId !== call.id) {
        throw broken(
          index,
          `place ${place} belongs to ${call.id} (${call.name}) but holds the result of ${result.callId}`,
        )
      }
      if (result.name !== call.name)
        throw broken(index, `${call.id} called ${call.name} but its result says ${result.name}`)
      if (typeof result.text !== "string") throw broken(index, `the result of ${call.id} (${call.name}) has no text`)
    }
    this.#open = []
  }
}

const names = (calls: readonly CallPart[]): string => calls.map(({ id, name }) => `${id} (${name})`).join(", ")

const broken = (index: number, problem: string): Error => new Error(`Broken history at message ${index}: ${problem}.`)
