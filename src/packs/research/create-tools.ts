import type { Tool } from "../../agent/tool.ts"
import type { Library } from "../../protocol/library-port.ts"
import type { Web } from "../../protocol/web-port.ts"
import type { Embedder } from "../../protocol/workspace-port.ts"
import { arxivSearch } from "./arxiv-search.ts"
import { readDocument } from "./read-document.ts"
import { retrieveChunks } from "./retrieve-chunks.ts"
import { createSearchProvider, type WebSearchSetting } from "./search-provider.ts"
import { summarizeDocument } from "./summarize-document.ts"
import { webSearch } from "./web-search.ts"

export interface ResearchNeeds {
  readonly library: Library
  readonly embedder: Embedder
  readonly web: Web
  readonly webSearch: WebSearchSetting
}

/** What the research agent can do. A new tool is one file and one line here. */
export function createResearchTools({ library, embedder, web, webSearch: setting }: ResearchNeeds): Tool[] {
  const provider = createSearchProvider(setting, web)
  return [
    retrieveChunks(library, embedder),
    readDocument(library),
    summarizeDocument(library),
    ...(provider ? [webSearch(provider)] : []),
    arxivSearch(web),
  ]
}
