import { z } from "zod"
import { answer, defineTool, failed, type Tool } from "../../agent/tool.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import { PaperDate, toDay } from "../../protocol/library.ts"
import type { Web } from "../../protocol/web-port.ts"
import { fromOutside, listSources, sourcesOf } from "./sources.ts"

const ADDRESS = "https://export.arxiv.org/api/query"
const USUAL = 5
const MOST = 20

const Input = z.strictObject({
  query: z.string().trim().min(1).max(300).describe("Words that titles and abstracts should hold"),
  from: PaperDate.nullish().describe("Only papers of this date or later: 2024, 2024-05 or 2024-05-31"),
  to: PaperDate.nullish().describe("Only papers of this date or earlier"),
  limit: z.number().int().min(1).max(MOST).nullish(),
})

/** Papers by arXiv's own search. `address`: a test's. */
export function arxivSearch(web: Web, address = ADDRESS): Tool {
  return defineTool({
    name: "arxiv_search",
    description: "Searches arXiv for papers, by words of titles and abstracts. Cite a paper by its id in brackets.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    brings: "outside",
    reaches: "outside",
    cacheSeconds: 3600,
    timeoutSeconds: 15,
    async run({ query, from, to, limit }, { signal }) {
      try {
        const { status, text } = await web.fetch(
          { url: toUrl(address, { query, from, to, limit: limit ?? USUAL }) },
          signal,
        )
        if (status !== 200) throw failure("web_unreachable", { host: "arXiv", problem: `it answered ${status}` })
        const { readAtom } = await import("./read-atom.ts") // loaded when used
        const sources = readAtom(text).map(({ id, title, authors, date, summary }) =>
          fromOutside(`arxiv_${id}`, {
            title: [title, authors.slice(0, 3).join(", ") + (authors.length > 3 ? " et al." : ""), date]
              .filter((part) => part)
              .join(" · "),
            url: `https://arxiv.org/abs/${id}`,
            passage: summary,
          }),
        )
        if (sources.length === 0)
          return answer("arXiv has no paper for that. Try fewer or other words.", { data: sourcesOf([]) })
        return answer(`arXiv has:\n\n${listSources(sources)}`, { data: sourcesOf(sources) })
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

/** Words only: what else stands in a query is syntax to arXiv. */
function toUrl(address: string, { query, from, to, limit }: Asked): string {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
  const terms = words.slice(0, 20).map((word) => `all:${word}`)
  const day = (date: string | null | undefined, last: boolean) => {
    const digits = date ? String(toDay(date, last)) : last ? "99999999" : "00000000"
    return last
      ? digits.replace(/99(99)?$/, (rest) => (rest === "9999" ? "1231" : "31"))
      : digits.replace(/0000$/, "0101").replace(/00$/, "01")
  }
  if (from || to)
    terms.push(`submittedDate:[${from ? day(from, false) : "19900101"}0000 TO ${to ? day(to, true) : "20991231"}2359]`)
  const url = new URL(address)
  url.searchParams.set("search_query", terms.join(" AND ") || "all:*")
  url.searchParams.set("max_results", String(limit))
  url.searchParams.set("sortBy", "relevance")
  return url.href
}
