import { AnswerData, type Citation } from "../protocol/stages.ts"

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

/** A number for each source of an answer: that of its conversation, or, by an older server, its place among them. */
export const sourceNumber = ({ sources }: AnswerData, id: string): number => {
  const at = sources.findIndex((source) => source.id === id)
  return sources[at]?.number ?? at + 1
}

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
  const flagged = answer.citations.flatMap(({ marker, problem }) =>
    problem ? [`[${marker}]: ${CITATION_PROBLEMS[problem]}`] : [],
  )
  return { sources, problems: [...new Set(flagged)] }
}
