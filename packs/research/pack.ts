import { definePack, type Embedder, type LibraryRecords, type Log, type Web } from "../../core/pack.ts"
import { researchAgent } from "./agent.ts"
import { createResearchTools } from "./create-tools.ts"
import { DocumentReader } from "./document-reader.ts"
import { Librarian } from "./librarian.ts"
import type { WebSearchSetting } from "./search-provider.ts"

export interface ResearchServices {
  readonly libraryRecords: LibraryRecords
  readonly embedder: Embedder
  readonly web: Web
  readonly webSearch: WebSearchSetting
  readonly log: Log
}

/** The time limit for reading a response from the web, which is small. */
const ANSWER_SECONDS = 10

/** Opens the library too, which the server's routes and commands fill. */
export const researchPack = definePack({
  name: "research",
  open({ libraryRecords, embedder, web, webSearch, log }: ResearchServices) {
    const library = new Librarian(libraryRecords, embedder, new DocumentReader({ log }))
    // Separate processes, so that searches do not wait for documents.
    const reader = new DocumentReader({ log, seconds: ANSWER_SECONDS })
    const tools = createResearchTools({ library: libraryRecords, embedder, web, webSearch, reader })
    return {
      agents: [researchAgent(tools)],
      library,
      async close() {
        await library.close()
        await reader.close()
      },
    }
  },
})
