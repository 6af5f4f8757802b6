import type { NewEvent } from "../../protocol/events.ts"
import type { CallPart, Part } from "../../protocol/conversation/message.ts"
import type { AnswerData, Generation, RouterChoice } from "../../protocol/conversation/stages.ts"
import { cite, unmarked } from "../cite/cite.ts"
import { citesNothing } from "../cite/cites-nothing.ts"
import { createWork } from "../cite/work-limit.ts"
import type { Conversation } from "../conversation.ts"
import { messageText } from "../history/history.ts"
import { byMarker } from "../cite/source-numbers.ts"
import { EXECUTING, GENERATION, ROUTING } from "../definition/stages.ts"

const MAX_REASONING = 1000
/** What a person has said lately may be named without a source. */
const MAX_SAID = 20_000

/**
 * What a reply means in the words of stages: which way the model chose and, of an answer, what it rests on. They stand
 * behind the reply and not before it: a cursor into a reply that is open counts on the next row being that reply.
 */
export function stagesOf(conversation: Conversation, parts: readonly Part[]) {
  const calls = parts.filter((part): part is CallPart => part.type === "call")
  const reasoning = reasoningOf(parts, calls.length > 0).slice(0, MAX_REASONING)
  const step = (name: string, detail: unknown): NewEvent => ({ type: "step", step: name, detail })
  if (calls.length > 0) {
    const tools = calls.map(({ name }) => name)
    const { data } = citedIn(conversation, parts)
    return { data, steps: [step(ROUTING, toChoice(calls, reasoning)), step(EXECUTING, { tools })] }
  }
  const cited = answerData(conversation, parts)
  const uncited = isUncited(conversation, parts, cited) ? { citesNothing: true } : {}
  const data = { ...cited, ...uncited }
  const { citations, evidence, unmarked: quotes = [], unchecked } = data
  const flagged = citations.filter(
    ({ problem, figures, differs, unchecked }) => problem || figures || differs || unchecked,
  ).length
  const unsourced = quotes.length > 0 ? { unmarked: quotes.length } : {}
  const left = unchecked ? { unchecked } : {}
  const generation: Generation = { evidence, citations: citations.length, flagged, ...unsourced, ...uncited, ...left }
  return {
    data,
    steps: [step(ROUTING, toChoice([], reasoning)), step(GENERATION, generation)],
  }
}

/** The same for words that are no answer but are shown all the same: those before a call, and those of a reply that was stopped. */
export function citedIn(conversation: Conversation, parts: readonly Part[]): { data?: AnswerData } {
  const data = answerData(conversation, parts)
  return data.citations.length > 0 || data.unmarked || data.unchecked ? { data } : {}
}

/** Whether it names nothing of what this run's own searches have found for it. What was graded as no help is none of it. */
function isUncited(conversation: Conversation, parts: readonly Part[], { citations, evidence }: AnswerData): boolean {
  if (citations.length > 0 || evidence === "none") return false
  const { sources, found, grading } = conversation.stages
  const dropped = new Set(grading?.dropped)
  const given = found.flatMap((id) => (dropped.has(id) ? [] : (sources.get(id) ?? [])))
  return citesNothing(messageText(parts), given, saidIn(conversation))
}

function saidIn({ history }: Conversation): string {
  const words = history.flatMap((turn) => (turn.role === "user" && !turn.isNote ? [turn.text] : []))
  return words.join("\n").slice(-MAX_SAID)
}

function answerData(conversation: Conversation, parts: readonly Part[]): AnswerData {
  const { stages } = conversation
  const said = saidIn(conversation)
  const work = createWork()
  const citations = cite(messageText(parts), byMarker(stages), said, work)
  const quotes = unmarked(messageText(parts), stages.sources, said, work)
  // The passages come along: whoever reads the answer, later and elsewhere, has what it rests on.
  const cited = new Set(citations.map(({ source }) => source))
  const sources = [...stages.sources.values()].flatMap((source) => {
    const number = stages.numbers.get(source.id)
    return cited.has(source.id) ? [{ ...source, ...(number ? { number } : {}) }] : []
  })
  return {
    kind: "citations",
    citations,
    sources,
    evidence: stages.grading?.evidence ?? null,
    ...(quotes.length > 0 ? { unmarked: quotes } : {}),
    ...(work.unchecked > 0 ? { unchecked: work.unchecked } : {}),
  }
}

function toChoice([first, ...rest]: readonly CallPart[], reasoning: string): RouterChoice {
  if (!first) return { action: "answer", tool: null, arguments: null, reasoning }
  const more = rest.map(({ name, input }) => ({ tool: name, arguments: input }))
  return { action: "call", tool: first.name, arguments: first.input, reasoning, ...(more.length > 0 ? { more } : {}) }
}

/** What a model says before it calls something is why it does; before an answer only its thinking is. */
function reasoningOf(parts: readonly Part[], calls: boolean): string {
  const thought = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
  return thought || (calls ? messageText(parts) : "")
}
