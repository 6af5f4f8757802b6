import { type Group, type Phrase, phrase } from "./phrase.ts"

const query = (group: Group) => ({ query: group("query") })

/** Plain requests about documents, papers and the web. Any question may be about the documents, so it comes last. */
export const researchPhrases: readonly Phrase[] = [
  phrase("arxiv_search", "(?:search|ask) arxiv (?:for|about) (?<query>.+)", query),
  phrase("web_search", "(?:search|ask) the (?:web|internet) (?:for|about) (?<query>.+)", query),
  phrase(
    "retrieve_chunks",
    "(?:find|search(?: for)?|look for) (?:passages?|papers?|documents?) (?:about|on|for) (?<query>.+?)[.?!]?",
    query,
  ),
  phrase(
    "retrieve_chunks",
    "what (?:do|does) (?:my|the|our) (?:documents?|papers?|collections?|library) say about (?<query>.+)",
    query,
  ),
  phrase(
    "retrieve_chunks",
    "(?<query>(?:what|how|why|who|when|where|which|is|are|was|were|do|does|did|can|could|should|has|have) .+)",
    query,
  ),
]
