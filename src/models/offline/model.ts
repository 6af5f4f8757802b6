import type { HistoryMessage, Model, ModelRequest, ReplyPart } from "../../agent/model.ts"
import { MORE_TOOLS } from "../../agent/definition/more-tools.ts"
import type { Interpreter, PlannedCall, ToolPhrases } from "../../agent/definition/phrases.ts"
import type { SettingName } from "../../protocol/conversation/reply-settings.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import { chunkText } from "./chunk-text.ts"
import { greeting, kindOfTalk, lost, retold, YOU_ARE_WELCOME } from "./words.ts"

/** It computes nothing and sends nothing. */
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 }
/** Longer messages are no plain request, and a pattern must never be given a book to search. */
const MAX_REQUEST = 1000
const CHUNKS = 4

/**
 * The model of a machine without a provider (MODEL-04). It matches plain requests against the phrases that tools bring
 * along, calls the tool, and repeats its answer; to everything else it says what it understands, and that it is no more.
 */
export function offlineModel(
  phrasesOf: () => readonly ToolPhrases[],
  interpretersOf: () => readonly Interpreter[] = () => [],
): Model {
  return {
    name: "offline",
    provider: "offline",
    contextTokens: 1_000_000,
    price: { input: 0, output: 0 },
    decides: false,
    async *stream(request, signal) {
      const given = Object.keys(request.settings ?? {}) as SettingName[]
      if (given.length > 0)
        yield {
          type: "left_out",
          settings: given.map((name) => ({ name, because: "it looks words up, and thinks nothing" })),
        }
      for (const part of answer(request, phrasesOf(), interpretersOf())) {
        signal.throwIfAborted()
        yield part
      }
    },
  }
}

function answer(
  request: ModelRequest,
  table: readonly ToolPhrases[],
  interpreters: readonly Interpreter[],
): ReplyPart[] {
  const last = lastTurn(request.history)
  const interpreted = interpret(request, interpreters)
  if (interpreted) return interpreted
  if (last?.role === "tool") return inWords(retold(last, table, asked(request.history)))
  const talk = last?.role === "user" ? kindOfTalk(last.text) : undefined
  if (talk === "thanks") return inWords(YOU_ARE_WELCOME)
  const spoken = table.filter(({ tool }) => request.tools.some(({ name }) => name === tool))
  const calls = last?.role === "user" && !talk ? understandAll(last.text, spoken) : []
  // What it was not shown it may still understand: it asks for the rest before it says that it does not.
  const more = request.toolChoice === "auto" && request.tools.some(({ name }) => name === MORE_TOOLS)
  if (calls.length === 0 && more) return calling([{ name: MORE_TOOLS, input: {} }])
  if (talk) return inWords(greeting(talk, spoken, request.history))
  if (calls.length === 0) return inWords(lost(spoken, request.history))
  if (request.toolChoice === "none") {
    const names = calls.map(({ name }) => name).join(" and ")
    return inWords(`I would call ${names} for that, but no more tools may be used now.`)
  }
  return calling(calls)
}

/** What the packs themselves make of it. What they would call and cannot is asked for, and else said. */
function interpret({ history, tools, toolChoice }: ModelRequest, all: readonly Interpreter[]): ReplyPart[] | undefined {
  const at = (name: string) => tools.some((tool) => tool.name === name)
  const last = lastTurn(history)
  if (last?.role === "user" && kindOfTalk(last.text)) return undefined
  for (const { tools: theirs, interpret: ask } of all) {
    const meaning = theirs.some(at) ? ask(history) : undefined
    if (!meaning) continue
    if ("says" in meaning) return inWords(meaning.says)
    const missing = meaning.calls.filter(({ name }) => !at(name))
    if (toolChoice === "none") return undefined
    if (missing.length === 0) return calling(meaning.calls)
    return at(MORE_TOOLS) ? calling([{ name: MORE_TOOLS, input: {} }]) : undefined
  }
  return undefined
}

const calling = (calls: readonly PlannedCall[]): ReplyPart[] => [
  ...calls.map(({ name, input }): ReplyPart => ({ type: "call", name, input: JSON.stringify(input) })),
  { type: "finish", finish: "calls", usage: NOTHING },
]

/** The last turn that matters: having asked for more tools it reads again what it was asked. */
function lastTurn(history: ModelRequest["history"]): HistoryMessage | undefined {
  const last = history.findLast((turn) => turn.role !== "user" || !turn.isNote)
  if (last?.role !== "tool" || last.results.some(({ name }) => name !== MORE_TOOLS)) return last
  return history.findLast(({ role }) => role === "user")
}

function inWords(text: string): ReplyPart[] {
  const deltas = chunkText(text, CHUNKS).map((chunk): ReplyPart => ({ type: "text", text: chunk }))
  return [...deltas, { type: "finish", finish: "stop", usage: NOTHING }]
}

function asked(history: ModelRequest["history"]): string {
  const words = history.findLast((turn) => turn.role === "user" && !turn.isNote)
  return words?.role === "user" ? words.text.slice(0, MAX_REQUEST) : ""
}

/** One request, or two with an `and` between them where each is understood by itself and the whole is not. */
function understandAll(message: string, table: readonly ToolPhrases[]): PlannedCall[] {
  const whole = understand(message, table)
  if (whole) return [whole]
  if (message.length > MAX_REQUEST) return []
  const parts = message.split(/,? and (?:then )?/i)
  const [first, second] = parts.map((part) => understand(part, table))
  return parts.length === 2 && first && second ? [first, second] : []
}

function understand(message: string, table: readonly ToolPhrases[]): PlannedCall | undefined {
  const text = message.trim().replace(/,? please(?=[.!?]*$)/i, "")
  if (text.length > MAX_REQUEST) return undefined
  // People end a request with a full stop or without, and mean the same.
  const forms = new Set([text.replace(/(?<![.!])[.!]+$/, ""), text.replace(/(?<![.!?])[.!?]+$/, ""), text])
  for (const form of forms) {
    for (const { tool, phrases } of table) {
      for (const phrase of phrases) {
        const match = whole(phrase.pattern).exec(form)
        if (match) return { name: tool, input: phrase.arguments(match.groups ?? {}) }
      }
    }
  }
  return undefined
}

const compiled = new WeakMap<RegExp, RegExp>()

/** The pattern for the whole message in any case, as `Phrase` promises, whatever its author wrote around it. */
function whole(pattern: RegExp): RegExp {
  const known = compiled.get(pattern)
  if (known) return known
  const flags = new Set([...pattern.flags.replaceAll(/[gy]/g, ""), "i"])
  const anchored = new RegExp(`^(?:${pattern.source})$`, [...flags].join(""))
  compiled.set(pattern, anchored)
  return anchored
}
