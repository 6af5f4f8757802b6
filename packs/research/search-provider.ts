import { failure, hasCode, type Web, type WebAnswer, type WebRequest, retryTimeText } from "../../core/pack.ts"
import type { AnswerKind } from "./document-job.ts"
import type { DocumentReader } from "./document-reader.ts"

export interface WebResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** A web search service. A new one needs a function here and a value of `PAWL_WEB_SEARCH`. */
export interface SearchProvider {
  readonly name: string
  search(query: string, asked: Asked): Promise<WebResult[]>
}

interface Asked {
  readonly limit: number
  /** The user: one user's responses are read one after the other. */
  readonly person: string
  readonly signal: AbortSignal
}

/** The value of `PAWL_WEB_SEARCH`: the provider, and its key or address. */
export type WebSearchSetting =
  | { readonly provider: "off" }
  | { readonly provider: "duckduckgo"; readonly url?: string }
  | { readonly provider: "brave" | "tavily"; readonly key: string; readonly url?: string }
  | { readonly provider: "searxng"; readonly url: string }

export function createSearchProvider(
  setting: WebSearchSetting,
  web: Web,
  reader: DocumentReader,
): SearchProvider | undefined {
  const make = (of: keyof typeof NAMES, request: (query: string, limit: number) => WebRequest): SearchProvider => ({
    name: NAMES[of],
    async search(query, { limit, person, signal }) {
      const asking = { request: request(query, limit), of, host: NAMES[of] }
      return ((await askWeb({ web, reader }, asking, { person, signal })) as WebResult[]).slice(0, limit)
    },
  })
  switch (setting.provider) {
    case "off":
      return undefined
    // Its page without scripts is the only search that needs neither a key nor a self-hosted server.
    case "duckduckgo": {
      const { url = "https://html.duckduckgo.com/html/" } = setting
      return make("duckduckgo", (q) => ({ url: withQuery(url, { q }) }))
    }
    case "brave": {
      const { key, url = "https://api.search.brave.com/res/v1/web/search" } = setting
      const headers = { "x-subscription-token": key }
      return make("brave", (q, limit) => ({ url: withQuery(url, { q, count: String(limit) }), headers }))
    }
    case "tavily": {
      const { key, url = "https://api.tavily.com/search" } = setting
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const body = (query: string, limit: number) => JSON.stringify({ query, max_results: limit })
      return make("tavily", (query, limit) => ({ url, method: "POST", headers, body: body(query, limit) }))
    }
    case "searxng": {
      const address = `${setting.url.replace(/(?<!\/)\/+$/, "")}/search`
      return make("searxng", (q) => ({ url: withQuery(address, { q, format: "json" }) }))
    }
  }
}

const NAMES = { duckduckgo: "DuckDuckGo", brave: "Brave", tavily: "Tavily", searxng: "SearXNG" } as const

interface Asking {
  readonly request: WebRequest
  readonly of: AnswerKind
  /** Its name in error messages. */
  readonly host: string
}

/** Sends a request and reads the response in a child process. Throws `web_unreachable`. */
export async function askWeb(
  { web, reader }: { readonly web: Web; readonly reader: DocumentReader },
  { request, of, host }: Asking,
  { person, signal }: Pick<Asked, "person" | "signal">,
): Promise<readonly unknown[]> {
  const answer = await web.fetch(request, signal)
  if (answer.status !== 200) throw failure("web_unreachable", { host, problem: problemOf(answer) })
  try {
    return await reader.answer(of, answer.text, { person, signal })
  } catch (error) {
    if (!hasCode(error, "document_unreadable")) throw error
    throw failure("web_unreachable", {
      host,
      problem: (error as unknown as { details: { problem: string } }).details.problem,
    })
  }
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return address.href
}

/** Describes an error response, and when to retry if it says so. */
function problemOf({ status, retryAfterMs, retryAt }: WebAnswer): string {
  const again = retryAfterMs === undefined ? "" : `; try again ${retryTimeText(retryAfterMs, retryAt)}`
  return `it answered ${status}${status === 429 ? " (too many requests)" : ""}${again}`
}
