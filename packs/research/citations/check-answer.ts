import type { AnswerToCheck, CitationReport } from "../../../core/pack.ts"
import { cite, unmarked } from "./cite.ts"
import { citesNothing } from "./cites-nothing.ts"
import { createWork } from "./work-limit.ts"

/** Compares an answer with its sources: unknown sources, quotes and numbers that no source contains, and contradictions. */
export function checkAnswer({ text, userText, sources, found }: AnswerToCheck): CitationReport {
  const work = createWork()
  const citations = cite(text, sources, userText, work)
  const byId = new Map([...sources.values()].map((source) => [source.id, source]))
  const quotes = unmarked(text, byId, userText, work)
  return {
    citations,
    unmarked: quotes,
    unchecked: work.unchecked,
    citesNothing: citations.length === 0 && citesNothing(text, found, userText),
  }
}
