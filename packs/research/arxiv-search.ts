import { z } from "zod"
import { answer, AppError, defineTool, failed, PaperDate, quote, type Tool, type Web } from "../../core/pack.ts"
import type { DocumentReader } from "./document-reader.ts"
import type { AtomEntry } from "./read-atom.ts"
import { askWeb } from "./search-provider.ts"
import { fromOutside, listSources, toSources } from "./sources.ts"

const ADDRESS = "https://export.arxiv.org/api/query"
const USUAL = 5
const MAX = 20

const Input = z.strictObject({
  query: z.string().trim().min(1).max(300).describe("Words that titles and abstracts should hold"),
  from: PaperDate.nullish().describe("Only papers of this date or later: 2024, 2024-05 or 2024-05-31"),
  to: PaperDate.nullish().describe("Only papers of this date or earlier"),
  limit: z.number().int().min(1).max(MAX).nullish(),
})

/** Searches papers with arXiv's API. `address`: for tests. */
export function arxivSearch(web: Web, reader: DocumentReader, address = ADDRESS): Tool {
  return defineTool({
    name: "arxiv_search",
    description: "Searches arXiv for papers, by words of titles and abstracts. Cite a paper by its number in brackets.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    taint: "untrusted",
    egress: true,
    cacheSeconds: 3600,
    timeoutSeconds: 15,
    sending: ({ query, from, to }) =>
      [`Search arXiv for ${quote(query)}`, ...(from ? [`from ${from}`] : []), ...(to ? [`to ${to}`] : [])].join(", "),
    examples: ["search arXiv for object detection"],
    async run({ query, from, to, limit }, { user, signal }) {
      try {
        const request = { url: toUrl(address, { query, from, to, limit: limit ?? USUAL }) }
        const asking = { request, of: "arxiv", host: "arXiv" } as const
        const entries = (await askWeb({ web, reader }, asking, { person: user, signal })) as AtomEntry[]
        const sources = entries.map(({ id, title, authors, date, summary }) =>
          // Old arXiv numbers contain a slash, which a marker cannot contain.
          fromOutside(`arxiv_${id.replaceAll("/", "_")}`, {
            title: [title, authors.slice(0, 3).join(", ") + (authors.length > 3 ? " et al." : ""), date]
              .filter((part) => part)
              .join(" · "),
            url: `https://arxiv.org/abs/${id}`,
            passage: summary,
          }),
        )
        if (sources.length === 0)
          return answer("arXiv has no paper for that. Try fewer or other words.", { data: toSources([]) })
        return answer(`arXiv has:\n\n${listSources(sources)}`, { data: toSources(sources) })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return failed(
          `arXiv could not be searched: ${error.message} Answer from what there is, and say that it was not searched.`,
        )
      }
    },
  })
}

interface Asked {
  readonly query: string
  readonly from: string | null | undefined
  readonly to: string | null | undefined
  readonly limit: number
}

/** Only the words of the query, because other characters are syntax to arXiv. */
function toUrl(address: string, { query, from, to, limit }: Asked): string {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
  const terms = words.slice(0, 20).map((word) => `all:${word}`)
  if (from || to)
    terms.push(`submittedDate:[${from ? firstDay(from) : "19900101"}0000 TO ${to ? lastDay(to) : "20991231"}2359]`)
  const url = new URL(address)
  url.searchParams.set("search_query", terms.join(" AND ") || "all:*")
  url.searchParams.set("max_results", String(limit))
  url.searchParams.set("sortBy", "relevance")
  return url.href
}

const firstDay = (date: string) => `${date}-01-01`.slice(0, 10).replaceAll("-", "")

/** The last day of a date's period. It must exist: arXiv refuses 31 June. */
function lastDay(date: string): string {
  const [year = "", month = "12", day] = date.split("-")
  const days = new Date(Date.UTC(2000, Number(month), 0)).getUTCDate()
  const isLeap = new Date(Date.UTC(Number(year), 1, 29)).getUTCMonth() === 1
  const last = month === "02" && !isLeap ? 28 : days
  return `${year}${month}${String(Math.min(Number(day ?? last), last)).padStart(2, "0")}`
}
