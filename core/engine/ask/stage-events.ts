import type { NewEvent } from "../../protocol/events.ts"
import type { CallPart, Part } from "../../protocol/conversation/message.ts"
import type { AnswerData, Generation, RouterChoice } from "../../protocol/conversation/stages.ts"
import type { Conversation } from "../conversation.ts"
import { type CitationReport, EXECUTING, GENERATION, ROUTING, type Stages } from "../definition/stages.ts"
import { messageText } from "../history/history.ts"
import { byMarker } from "../history/source-numbers.ts"

const MAX_REASONING = 1000
/** How much of the user's recent text a check of citations may read. */
const MAX_USER_TEXT = 20_000

/**
 * Returns what a reply adds to the record of an agent with stages: the data of its message, and steps for the chosen
 * action. The steps follow the message, because the cursor of an open reply expects the message as the next event.
 */
export async function stageRecords(stages: Stages, conversation: Conversation, parts: readonly Part[]) {
  const calls = parts.filter((part): part is CallPart => part.type === "call")
  const reasoning = reasoningOf(parts, calls.length > 0).slice(0, MAX_REASONING)
  const step = (name: string, detail: unknown): NewEvent => ({ type: "step", step: name, detail })
  if (calls.length > 0) {
    const tools = calls.map(({ name }) => name)
    const { data } = await citationData(stages, conversation, parts)
    return { data, steps: [step(ROUTING, toChoice(calls, reasoning)), step(EXECUTING, { tools })] }
  }
  const { data: cited, report } = await answerData(stages, conversation, parts)
  const uncited = report.citesNothing ? { citesNothing: true } : {}
  const data = { ...cited, ...uncited }
  const { citations, evidence, unmarked = [], unchecked } = data
  const flagged = citations.filter(
    ({ problem, figures, differs, unchecked }) => problem || figures || differs || unchecked,
  ).length
  const generation: Generation = {
    evidence,
    citations: citations.length,
    flagged,
    ...(unmarked.length > 0 ? { unmarked: unmarked.length } : {}),
    ...uncited,
    ...(unchecked ? { unchecked } : {}),
  }
  return { data, steps: [step(ROUTING, toChoice([], reasoning)), step(GENERATION, generation)] }
}

/** The citations of a text that is not the final answer: text before a tool call, or a stopped reply. */
export async function citationData(
  stages: Stages,
  conversation: Conversation,
  parts: readonly Part[],
): Promise<{ data?: AnswerData }> {
  const { data } = await answerData(stages, conversation, parts)
  return data.citations.length > 0 || data.unmarked || data.unchecked ? { data } : {}
}

/** The passages that this run's searches found, without those that grading dropped. None if it found no evidence. */
function foundPassages({ stages: { sources, found, grading } }: Conversation) {
  if (grading?.evidence === "none") return []
  const dropped = new Set(grading?.dropped)
  return found.flatMap((id) => (dropped.has(id) ? [] : (sources.get(id) ?? [])))
}

function userTextOf({ history }: Conversation): string {
  const texts = history.flatMap((turn) => (turn.role === "user" && !turn.isNote ? [turn.text] : []))
  return texts.join("\n").slice(-MAX_USER_TEXT)
}

const NO_REPORT: CitationReport = { citations: [], unmarked: [], unchecked: 0, citesNothing: false }

async function answerData({ citations: check }: Stages, conversation: Conversation, parts: readonly Part[]) {
  const { stages } = conversation
  const report =
    (await check?.({
      text: messageText(parts),
      userText: userTextOf(conversation),
      sources: byMarker(stages),
      found: foundPassages(conversation),
    })) ?? NO_REPORT
  const { citations, unmarked, unchecked } = report
  const cited = new Set(citations.map(({ source }) => source))
  // The cited passages become part of the answer, so that it can be read without the tool results.
  const sources = [...stages.sources.values()].flatMap((source) => {
    const number = stages.numbers.get(source.id)
    return cited.has(source.id) ? [{ ...source, ...(number ? { number } : {}) }] : []
  })
  const data: AnswerData = {
    kind: "citations",
    citations: [...citations],
    sources,
    evidence: stages.grading?.evidence ?? null,
    ...(unmarked.length > 0 ? { unmarked: [...unmarked] } : {}),
    ...(unchecked > 0 ? { unchecked } : {}),
  }
  return { data, report }
}

function toChoice([first, ...rest]: readonly CallPart[], reasoning: string): RouterChoice {
  if (!first) return { action: "answer", tool: null, arguments: null, reasoning }
  const more = rest.map(({ name, input }) => ({ tool: name, arguments: input }))
  return { action: "call", tool: first.name, arguments: first.input, reasoning, ...(more.length > 0 ? { more } : {}) }
}

/** The model's reasoning for its choice. Text before a tool call counts as reasoning; before an answer only its thinking does. */
function reasoningOf(parts: readonly Part[], hasCalls: boolean): string {
  const thinking = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
  return thinking || (hasCalls ? messageText(parts) : "")
}
