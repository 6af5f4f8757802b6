import type { Log } from "../../core/shared/log.ts"
import type { LibraryRecords } from "../../core/engine/library.ts"
import type { Web } from "../../core/engine/pack-services.ts"
import type { Embedder } from "../../core/protocol/workspace.ts"
import { definePack } from "../../core/packs/pack.ts"
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

/** For what the web answers, which is small: no tool waits for a minute. */
const ANSWER_SECONDS = 10

/** Opens the library too: whoever fills it does so by the same hand. */
export const researchPack = definePack({
  name: "research",
  open({ libraryRecords, embedder, web, webSearch, log }: ResearchServices) {
    const library = new Librarian(libraryRecords, embedder, new DocumentReader({ log }))
    // Of their own, so that nobody's search waits behind documents.
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
