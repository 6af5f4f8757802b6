import { failure } from "../../protocol/errors.ts"
import { mendText } from "../../protocol/text.ts"
import { whenWords } from "../../protocol/time-words.ts"
import type { Web, WebAnswer } from "../../protocol/web-port.ts"

export interface WebResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** Whoever searches the web for us. A new one is one more function here and a word in `PAWL_WEB_SEARCH`. */
export interface SearchProvider {
  readonly name: string
  search(query: string, limit: number, signal: AbortSignal): Promise<WebResult[]>
}

/** What `PAWL_WEB_SEARCH` says: who is asked, and the key or the address that this takes. */
export type WebSearchSetting =
  | { readonly provider: "off" }
  | { readonly provider: "duckduckgo"; readonly url?: string }
  | { readonly provider: "brave" | "tavily"; readonly key: string; readonly url?: string }
  | { readonly provider: "searxng"; readonly url: string }

export function createSearchProvider(setting: WebSearchSetting, web: Web): SearchProvider | undefined {
  switch (setting.provider) {
    case "off":
      return undefined
    case "duckduckgo":
      return duckDuckGo(web, setting.url)
    case "brave":
      return brave(web, setting.key, setting.url)
    case "tavily":
      return tavily(web, setting.key, setting.url)
    case "searxng":
      return searxng(web, setting.url)
  }
}

/** Its page without script: the one search that needs neither a key nor a server of one's own. */
function duckDuckGo(web: Web, url = "https://html.duckduckgo.com/html/"): SearchProvider {
  return {
    name: "DuckDuckGo",
    async search(query, limit, signal) {
      const answer = demandOk("DuckDuckGo", await web.fetch({ url: withQuery(url, { q: query }) }, signal))
      const { readResults } = await import("./read-results.ts")
      return readResults(answer.text).slice(0, limit)
    },
  }
}

function brave(web: Web, key: string, url = "https://api.search.brave.com/res/v1/web/search"): SearchProvider {
  return {
    name: "Brave",
    async search(query, limit, signal) {
      const asked = {
        url: withQuery(url, { q: query, count: String(limit) }),
        headers: { "x-subscription-token": key },
      }
      const { web: found } = toJson("Brave", await web.fetch(asked, signal)) as { web?: { results?: unknown } }
      return toResults(found?.results, { title: "title", url: "url", snippet: "description" }).slice(0, limit)
    },
  }
}

function tavily(web: Web, key: string, url = "https://api.tavily.com/search"): SearchProvider {
  return {
    name: "Tavily",
    async search(query, limit, signal) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const body = JSON.stringify({ query, max_results: limit })
      const answer = toJson("Tavily", await web.fetch({ url, method: "POST", headers, body }, signal))
      return toResults((answer as { results?: unknown }).results, { title: "title", url: "url", snippet: "content" })
    },
  }
}

function searxng(web: Web, url: string): SearchProvider {
  return {
    name: "SearXNG",
    async search(query, limit, signal) {
      const address = withQuery(`${url.replace(/(?<!\/)\/+$/, "")}/search`, { q: query, format: "json" })
      const answer = toJson("SearXNG", await web.fetch({ url: address }, signal))
      const results = (answer as { results?: unknown }).results
      return toResults(results, { title: "title", url: "url", snippet: "content" }).slice(0, limit)
    },
  }
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return address.href
}

function demandOk(name: string, answer: WebAnswer): WebAnswer {
  if (answer.status === 200) return answer
  throw failure("web_unreachable", { host: name, problem: problemOf(answer) })
}

/** What it answered instead, and when it makes sense to ask again, where it says so. */
export function problemOf({ status, retryAfterMs, retryAt }: WebAnswer): string {
  const again = retryAfterMs === undefined ? "" : `; ask it again ${whenWords(retryAfterMs, retryAt)}`
  return `it answered ${status}${status === 429 ? " (too many requests)" : ""}${again}`
}

function toJson(name: string, answer: WebAnswer): object {
  try {
    const value: unknown = JSON.parse(demandOk(name, answer).text)
    if (typeof value === "object" && value !== null) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw failure("web_unreachable", { host: name, problem: "it answered with something else than results" })
}

function toResults(value: unknown, names: Readonly<Record<keyof WebResult, string>>): WebResult[] {
  return (Array.isArray(value) ? (value as unknown[]) : []).flatMap((item) => {
    const said = (field: keyof WebResult) => (item as Record<string, unknown> | null)?.[names[field]]
    const [title, url, snippet] = [said("title"), said("url"), said("snippet")]
    if (typeof url !== "string" || !/^https?:\/\//.test(url)) return []
    return [{ title: plain(title) || url, url: mendText(url), snippet: plain(snippet) }]
  })
}

const plain = (value: unknown) =>
  typeof value === "string"
    ? mendText(value.replaceAll(/<[^<>]*>/g, ""))
        .replaceAll(/\s+/g, " ")
        .trim()
    : ""
