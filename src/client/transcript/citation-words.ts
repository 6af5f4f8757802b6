import { AnswerData, type Citation } from "../../protocol/conversation/stages.ts"

/** What an answer rests on, in words for people: the same in the page and in the terminal. */

/** What a reply's markers are bound to, where the server has said so. */
export function citationsOf(data: unknown): AnswerData | undefined {
  const { kind } = (data ?? {}) as { kind?: unknown }
  return kind === "citations" ? AnswerData.safeParse(data).data : undefined
}

export const CITATION_PROBLEMS: Readonly<Record<NonNullable<Citation["problem"]>, string>> = {
  unknown_source: "No passage that was found has this name. Do not rely on it.",
  quote_not_found: "The quoted words do not stand in this passage.",
}

/** What is wrong with a citation, and what its quote leaves out, for whoever looks at it; undefined where nothing is to be said. */
export function citationWords({
  problem,
  because,
  leftOut = [],
  figures = [],
  unchecked,
}: Citation): string | undefined {
  const gaps = leftOut.map((words) => `“${words}”`).join(", ")
  if (because === "left_out") return `The quote leaves out words that may change what it says: ${gaps}`
  if (problem) return CITATION_PROBLEMS[problem]
  if (figures.length > 0)
    return `The passage does not say ${figures.join(", ")}: ${figures.length > 1 ? "these numbers stand" : "this number stands"} nowhere in it.`
  if (unchecked) return "Not all of its quotes were checked: this answer quotes too much."
  return gaps === "" ? undefined : `Where the quote has dots, the passage says ${gaps}`
}

/** A number for each source of an answer: that of its conversation, or, by an older server, its place among them. */
export const sourceNumber = ({ sources }: AnswerData, id: string): number => {
  const at = sources.findIndex((source) => source.id === id)
  return sources[at]?.number ?? at + 1
}

/** Of quotes that name no source and that nobody can have copied from one. */
export const unmarkedWords = ({ unmarked = [] }: AnswerData): string[] =>
  unmarked.map(
    ({ quote }) =>
      `“${quote.length > 80 ? `${quote.slice(0, 80).toWellFormed()}…` : quote}” stands in nothing that was found.`,
  )

/** What is to be said of an answer as a whole. */
export function answerWords(answer: AnswerData): string[] {
  const { citesNothing, unchecked = 0 } = answer
  const left = `${unchecked} of its quotes and citations ${unchecked === 1 ? "was" : "were"} not checked: there are too many.`
  return [...unmarkedWords(answer), ...(citesNothing ? [CITES_NOTHING] : []), ...(unchecked > 0 ? [left] : [])]
}

const CITES_NOTHING = "This answer cites nothing of what was found: its statements cannot be checked here."

/** Below an answer where nothing can be clicked: what its markers stand for, and which of them not to rely on. */
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
    const words = citationWords(citation)
    return words ? [`[${citation.marker}]: ${words}`] : []
  })
  return { sources, problems: [...new Set([...flagged, ...answerWords(answer)])] }
}
