import { z } from "zod"
import { answer, AppError, defineTool, failed, quote, type Tool } from "../../core/pack.ts"
import type { SearchProvider } from "./search-provider.ts"
import { fromOutside, textHash, listSources, toSources } from "./sources.ts"

const USUAL = 5
const MAX = 10
const MAX_SNIPPET = 1500

const Input = z.strictObject({
  query: z.string().trim().min(1).max(400).describe("What to search the web for"),
  limit: z.number().int().min(1).max(MAX).nullish(),
})

/**
 * Searches the web with the provider of `PAWL_WEB_SEARCH`. The query leaves this server, so it needs an approval after
 * private content.
 */
export function webSearch(provider: SearchProvider): Tool {
  return defineTool({
    name: "web_search",
    description: "Searches the web. Cite a result by its number in brackets.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    taint: "untrusted",
    egress: true,
    cacheSeconds: 300,
    timeoutSeconds: 15,
    sending: ({ query }) => `Search the web with ${provider.name} for ${quote(query)}`,
    examples: ["search the web for vision transformers"],
    async run({ query, limit }, { user, signal }) {
      try {
        const results = await provider.search(query, { limit: limit ?? USUAL, person: user, signal })
        const sources = results.map(({ title, url, snippet }) => {
          const passage = snippet.slice(0, MAX_SNIPPET).toWellFormed()
          // The id depends on the passage, too: each query may show another part of the page.
          return fromOutside(`web_${textHash(`${url}\n${passage}`).slice(0, 12)}`, { title, url, passage })
        })
        if (sources.length === 0)
          return answer(`${provider.name} found nothing. Try other words.`, { data: toSources([]) })
        return answer(`${provider.name} found:\n\n${listSources(sources)}`, { data: toSources(sources) })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return failed(
          `The web could not be searched: ${error.message} Answer from what there is, and say that it was not searched.`,
        )
      }
    },
  })
}
