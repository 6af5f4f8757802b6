import type { WebSearchSetting } from "../../packs/research/search-provider.ts"

export const WEB_SEARCH_FORMS = "duckduckgo, brave:KEY, tavily:KEY, searxng:URL or off"

/** Who searches the web: a name, or a name with a key or an address; undefined where it is none of these. */
export function readWebSearch(text: string): WebSearchSetting | undefined {
  const [, provider = text, rest] = /^(\w+):(.+)$/.exec(text) ?? []
  const isAddress = rest !== undefined && /^https?:\/\/\S+$/.test(rest)
  switch (provider) {
    case "off":
      return rest === undefined ? { provider } : undefined
    case "brave":
    case "tavily":
      return rest !== undefined && /^[\x21-\x7e]+$/.test(rest) ? { provider, key: rest } : undefined
    case "searxng":
      return isAddress ? { provider, url: rest } : undefined
    case "duckduckgo":
      return rest === undefined ? { provider } : isAddress ? { provider, url: rest } : undefined
    default:
      return undefined
  }
}
