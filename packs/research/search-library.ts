import type { Embedder, Library, PassageSearch, SearchAnswer, UserId, Vector } from "../../core/pack.ts"

/** The time limit of the embedder for a query. A query is short, so a slower embedder is treated as unavailable. */
const PATIENCE_MS = 5000

interface Asked {
  readonly user: UserId
  readonly search: PassageSearch
  readonly signal: AbortSignal
}

/** Searches passages by words and by meaning, or by words alone if the embedder does not answer; the answer says which. */
export async function searchLibrary(
  { library, embedder }: { readonly library: Library; readonly embedder: Embedder },
  { user, search, signal }: Asked,
): Promise<SearchAnswer> {
  const { query: text, collectionIds, from, to, limit } = search
  const vector = await vectorOf(text, embedder, signal)
  const [items, progress] = await Promise.all([
    library.search(user, {
      ...{ text, limit },
      ...(vector ? { vector } : {}),
      ...(collectionIds ? { collectionIds } : {}),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }),
    library.progress(user, collectionIds),
  ])
  return { items, wordsOnly: vector === undefined, ...(progress ? { progress } : {}) }
}

async function vectorOf(text: string, embedder: Embedder, signal: AbortSignal): Promise<Vector | undefined> {
  try {
    const [numbers] = await embedder.embed([text], AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]))
    return numbers && { embedder: embedder.name, numbers: [...numbers] }
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}
