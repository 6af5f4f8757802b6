import type { Embedder, Library, Tool, Web } from "../../core/pack.ts"
import { arxivSearch } from "./arxiv-search.ts"
import { DocumentReader } from "./document-reader.ts"
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
  /** Parses responses from the web. */
  readonly reader?: DocumentReader
}

/** Creates the tools of the research agent. A new tool is one file and one line here. */
export function createResearchTools(needs: ResearchNeeds): Tool[] {
  const { library, embedder, web, webSearch: setting, reader = new DocumentReader() } = needs
  const provider = createSearchProvider(setting, web, reader)
  return [
    retrieveChunks(library, embedder),
    readDocument(library),
    summarizeDocument(library),
    ...(provider ? [webSearch(provider)] : []),
    arxivSearch(web, reader),
  ]
}
