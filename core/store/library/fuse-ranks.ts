/** Large enough that the first of one list does not beat the second of both. */
const K = 60

/** Merges rankings by rank alone, because scores of words and of meaning cannot be compared (Cormack et al., 2009). */
export function fuseRanks(lists: readonly (readonly string[])[]): { id: string; score: number }[] {
  const scores = new Map<string, number>()
  for (const list of lists) {
    for (const [place, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + place + 1))
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score)
}

/** Passages ranked by meaning. Only passages that already have a vector can be in the list. */
export interface MeaningRanks {
  readonly ids: readonly string[]
  /** The share of the searched passages that have a vector, from 0 to 1. */
  readonly share: number
  hasVector(id: string): boolean
}

/**
 * Merges a ranking by words with a ranking by meaning while some passages still wait for their vector.
 *
 * The meaning list counts only as much as its share of the passages, and its ranks are stretched by that share: the best of a
 * tenth is about the tenth best of all. A passage without a vector takes its rank by words in both lists, so a passage
 * does not move up only because it was embedded first. With a share of 1 this is `fuseRanks`.
 */
export function fuseWithMeaning(words: readonly string[], { ids, share, hasVector }: MeaningRanks) {
  const scores = new Map<string, number>()
  for (const [rank, id] of words.entries()) scores.set(id, (hasVector(id) ? 1 : 1 + share) / (K + rank + 1))
  for (const [rank, id] of ids.entries()) scores.set(id, (scores.get(id) ?? 0) + share / (K + rank / share + 1))
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score)
}
