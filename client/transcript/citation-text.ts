import { AnswerData, type Citation } from "../../core/protocol/conversation/stages.ts"
import { quote } from "../../core/shared/text/quote.ts"

/** Describes the citations of an answer, for the page and the terminal. */

/** Returns the citations of a reply from its `data`; undefined if the server sent none. */
export function citationsOf(data: unknown): AnswerData | undefined {
  const { kind } = (data ?? {}) as { kind?: unknown }
  return kind === "citations" ? AnswerData.safeParse(data).data : undefined
}

/**
 * A sentence for each problem that a citation can have: an unknown source, or a quote that its passage does not
 * contain.
 */
export const CITATION_PROBLEMS: Readonly<Record<NonNullable<Citation["problem"]>, string>> = {
  unknown_source: "No passage found has this name. Do not rely on it.",
  quote_not_found: "The quote does not appear in this passage.",
}

/** Describes what is wrong with a citation, and what its quote leaves out; undefined if there is nothing to report. */
export function describeCitation({
  problem,
  because,
  leftOut = [],
  figures = [],
  differs,
  unchecked,
}: Citation): string | undefined {
  const gaps = leftOut.map(quote).join(", ")
  if (because === "left_out") return `The quote leaves out words that may change its meaning: ${gaps}`
  if (problem) return CITATION_PROBLEMS[problem]
  if (figures.length > 0)
    return `${figures.length > 1 ? "These numbers do" : "This number does"} not appear in the passage: ${figures.join(", ")}.`
  if (differs) return `${DIFFERENCES[differs.kind]} The passage says: ${quote(differs.passage)}`
  if (unchecked) return "Some quotes were not checked because this answer quotes too much."
  return gaps === "" ? undefined : `Where the quote has dots, the passage says ${gaps}`
}

const DIFFERENCES: Readonly<Record<NonNullable<Citation["differs"]>["kind"], string>> = {
  negation: "This may be the opposite of what the passage says.",
  swapped: "This may confuse what the passage compares.",
  unit: "The passage has this number with another unit.",
  number: "The passage has another number.",
  year: "The passage has another year.",
}

/**
 * The number under which a source is shown: its number in the conversation or, from an older server, its position in
 * the list.
 */
export const sourceNumber = ({ sources }: AnswerData, id: string): number => {
  const at = sources.findIndex((source) => source.id === id)
  return sources[at]?.number ?? at + 1
}

/** Returns a sentence for each quote in a reply that no found passage contains. */
export const describeUnmarked = ({ unmarked = [] }: AnswerData): string[] =>
  unmarked.map(
    ({ quote: text }) =>
      `This quote appears in no source: ${quote(text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text)}`,
  )

/**
 * Returns a sentence for each problem with a reply's quotes and citations: quotes without a source, no citation at
 * all, or too many to check. Empty if there is none.
 */
export function describeAnswerProblems(answer: AnswerData): string[] {
  const { citesNothing, unchecked = 0 } = answer
  const left = `${unchecked} ${unchecked === 1 ? "quote or citation was" : "quotes and citations were"} not checked because there are too many.`
  return [...describeUnmarked(answer), ...(citesNothing ? [CITES_NOTHING] : []), ...(unchecked > 0 ? [left] : [])]
}

const CITES_NOTHING = "This answer cites none of the sources found, so it cannot be checked here."

/** A legend below an answer, for displays without links: the sources, and the citations with problems. */
export function citationLegend(data: unknown): { readonly sources: string[]; readonly problems: string[] } {
  const answer = citationsOf(data)
  if (!answer) return { sources: [], problems: [] }
  const markers = new Map<string, string>()
  for (const { marker, source } of answer.citations)
    if (source !== null && !markers.has(source)) markers.set(source, marker)
  const sources = answer.sources.map(({ id, number, title, url }) => {
    const marker = number === undefined || markers.get(id) === id ? (markers.get(id) ?? id) : String(number)
    return `[${marker}] ${title}${url ? ` (${url})` : ""}`
  })
  const flagged = answer.citations.flatMap((citation) => {
    const text = describeCitation(citation)
    return text ? [`[${citation.marker}]: ${text}`] : []
  })
  return { sources, problems: [...new Set([...flagged, ...describeAnswerProblems(answer)])] }
}
