import type { WebSearchSetting } from "../../packs/research/search-provider.ts"
import type { VariableReader } from "./variables.ts"

const FORM = "duckduckgo, brave:KEY, tavily:KEY, searxng:URL or off"
const PATTERN = /^(?:(?:off|duckduckgo)|(?:brave|tavily):[\x21-\x7e]+|(?:searxng|duckduckgo):https?:\/\/\S+)$/

/** Who searches the web: DuckDuckGo, which needs no key, unless the setting names another one, or nobody. */
export function readWebSearch(settings: VariableReader): WebSearchSetting {
  const text = settings.secret("PAWL_WEB_SEARCH", PATTERN, FORM)
  const [, provider = text ?? "duckduckgo", rest] = /^(\w+):(.+)$/.exec(text ?? "") ?? []
  switch (provider) {
    case "off":
      return { provider }
    case "brave":
    case "tavily":
      return { provider, key: rest ?? "" }
    case "searxng":
      return { provider, url: rest ?? "" }
    default:
      return { provider: "duckduckgo", ...(rest === undefined ? {} : { url: rest }) }
  }
}
