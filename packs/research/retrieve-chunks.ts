import { z } from "zod"
import {
  answer,
  type CollectionId,
  defineTool,
  type Embedder,
  failed,
  type Library,
  PaperDate,
  searchNotice,
  type Tool,
  type UserId,
} from "../../core/pack.ts"
import { searchLibrary } from "./search-library.ts"
import { fromPassage, listSources, privateTaintOf, toSources } from "./sources.ts"

const USUAL = 8
const MAX = 20

const Input = z.strictObject({
  query: z.string().trim().min(1).max(2000).describe("What to look for, in any words"),
  collection: z.string().trim().max(300).nullish().describe("Only this collection: its name or id"),
  from: PaperDate.nullish().describe("Only documents of this date or later: 2024, 2024-05 or 2024-05-31"),
  to: PaperDate.nullish().describe("Only documents of this date or earlier"),
  limit: z.number().int().min(1).max(MAX).nullish(),
})

/** Searches the passages of the person's collections. Their text is untrusted and may be private. */
export function retrieveChunks(library: Library, embedder: Embedder): Tool {
  return defineTool({
    name: "retrieve_chunks",
    description:
      "Finds passages in the person's collections of documents and papers, by words and by meaning. Cite a passage by its number in brackets.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    taint: "untrusted",
    examples: [
      "find passages about lift at high angles",
      "what do my documents say about boundary layers?",
      "how does a wing stall?",
    ],
    async run({ query, collection, from, to, limit }, { user, signal }) {
      const among = collection ? await collectionNamed(library, user, collection) : undefined
      if (among && "problem" in among) return failed(among.problem, { taint: "private" }) // the problem lists document names
      const found = await searchLibrary(
        { library, embedder },
        {
          user,
          signal,
          search: {
            ...{ query, limit: limit ?? USUAL },
            ...(among ? { collectionIds: [among.id] } : {}),
            ...(from ? { from } : {}),
            ...(to ? { to } : {}),
          },
        },
      )
      const { items } = found
      const remark = searchNotice(found)
      const notice = remark ? `\n\n[${remark}]` : ""
      if (items.length === 0)
        return answer(
          `No passage matches. Try other words, fewer conditions, or web_search and arxiv_search.${notice}`,
          {
            data: toSources([]),
          },
        )
      const sources = items.map(fromPassage)
      return answer(`Found ${items.length} passage(s):\n\n${listSources(sources)}${notice}`, {
        data: toSources(sources),
        ...privateTaintOf(items),
      })
    },
  })
}

async function collectionNamed(
  library: Library,
  user: UserId,
  name: string,
): Promise<{ id: CollectionId } | { problem: string }> {
  const { items } = await library.collections(user, { limit: 200 })
  const wanted = name.toLowerCase()
  const found = items.find((item) => item.id === name) ?? items.find((item) => item.name.toLowerCase() === wanted)
  if (found) return { id: found.id }
  const names = items.map((item) => `"${item.name}"`).join(", ")
  return { problem: `There is no collection "${name}". ${names ? `There are: ${names}.` : "There are none yet."}` }
}
