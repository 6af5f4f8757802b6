import type { HistoryMessage, Model, ModelRequest, ReplyPart, ToolTurn } from "../agent/model.ts"
import { withoutMarks } from "../agent/outside-words.ts"
import { MORE_TOOLS } from "../agent/more-tools.ts"
import type { Phrase } from "../agent/phrases.ts"
import type { Usage } from "../protocol/message.ts"
import { chunkText } from "./chunk-text.ts"
import { settingVariables as variable } from "./settings.ts"

/** The phrases of one tool. */
export interface ToolPhrases {
  readonly tool: string
  readonly phrases: readonly Phrase[]
  readonly retell?: (text: string, asked: string) => string
}

/** It computes nothing and sends nothing. */
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 }
/** Longer messages are no plain request, and a pattern must never be given a book to search. */
const MAX_REQUEST = 1000
/** A screenful: who wants all of them finds them in the documentation. */
const MAX_EXAMPLES = 14
const FEW_TOOLS = 4
const CHUNKS = 4

/**
 * The model of a machine without a provider (MODEL-04). It matches plain requests against the phrases that tools bring
 * along, calls the tool, and repeats its answer; to everything else it says what it understands and is no more than.
 */
export function offlineModel(phrasesOf: () => readonly ToolPhrases[]): Model {
  return {
    name: "offline",
    provider: "offline",
    contextTokens: 1_000_000,
    price: { input: 0, output: 0 },
    decides: false,
    async *stream(request, signal) {
      for (const part of answer(request, phrasesOf())) {
        signal.throwIfAborted()
        yield part
      }
    },
  }
}

function answer(request: ModelRequest, table: readonly ToolPhrases[]): ReplyPart[] {
  const last = lastTurn(request.history)
  if (last?.role === "tool") return inWords(repeat(last, table, asked(request.history)))
  const spoken = table.filter(({ tool }) => request.tools.some(({ name }) => name === tool))
  const calls = last?.role === "user" ? understandAll(last.text, spoken) : []
  // What it was not shown it may still understand: it asks for the rest before it says that it does not.
  const more = request.toolChoice === "auto" && request.tools.some(({ name }) => name === MORE_TOOLS)
  if (calls.length === 0) return more ? calling([{ name: MORE_TOOLS, input: {} }]) : inWords(help(spoken))
  if (request.toolChoice === "none") {
    const names = calls.map(({ name }) => name).join(" and ")
    return inWords(`I would call ${names} for that, but no more tools may be used now.`)
  }
  return calling(calls)
}

const calling = (calls: readonly Understood[]): ReplyPart[] => [
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

function repeat({ results }: ToolTurn, table: readonly ToolPhrases[], question: string): string {
  const told = results.map(({ text, name, status }) => {
    const words = withoutMarks(text).trim()
    const retell = status === "ok" ? table.find(({ tool }) => tool === name)?.retell : undefined
    return (retell ? retell(words, question) : words) || `${name}: ${status}`
  })
  return told.join("\n\n")
}

interface Understood {
  readonly name: string
  readonly input: Record<string, unknown>
}

/** One request, or two with an `and` between them where each is understood by itself and the whole is not. */
function understandAll(message: string, table: readonly ToolPhrases[]): Understood[] {
  const whole = understand(message, table)
  if (whole) return [whole]
  if (message.length > MAX_REQUEST) return []
  const parts = message.split(/,? and (?:then )?/i)
  const [first, second] = parts.map((part) => understand(part, table))
  return parts.length === 2 && first && second ? [first, second] : []
}

function understand(message: string, table: readonly ToolPhrases[]): Understood | undefined {
  const text = message.trim().replace(/,? please(?=[.!?]*$)/i, "")
  if (text.length > MAX_REQUEST) return undefined
  // People end a request with a full stop or without, and mean the same.
  const forms = new Set([text.replace(/[.!]+$/, ""), text.replace(/[.!?]+$/, ""), text])
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

function help(table: readonly ToolPhrases[]): string {
  const examples = table.flatMap(({ phrases }) => phrases.map(({ example }) => example))
  // Of tools all along the table: they show what can be done, and not in how many words.
  const firsts = table.flatMap(({ phrases }) => phrases.slice(0, 1).map(({ example }) => example))
  const every = Math.ceil(firsts.length / MAX_EXAMPLES)
  const chosen = firsts.filter((_, at) => at % every === 0)
  // Of a tool or two there is room for more of their words.
  const seconds = table.flatMap(({ phrases }) => phrases.slice(1).map(({ example }) => example))
  if (firsts.length < FEW_TOOLS) chosen.push(...seconds.slice(0, MAX_EXAMPLES - chosen.length))
  const shown = chosen.map((example) => `- ${example}`)
  if (examples.length > shown.length) shown.push(`- and ${examples.length - shown.length} more of this kind`)
  const understood =
    shown.length > 0
      ? `I understand only plain requests like these:\n\n${shown.join("\n")}`
      : "None of my tools can be used here."
  return `I am the offline model: a small table of phrases, not a language model, and I did not understand that. ${understood}\n\n${CONNECT}`
}

const CONNECT =
  `To talk freely, connect a real model: set ${variable.openaiApiKey}, ${variable.anthropicApiKey}, ` +
  `${variable.deepseekApiKey}, ${variable.lmStudioEndpoint} or ${variable.ollamaHost}, restart, and choose it for this conversation.`
