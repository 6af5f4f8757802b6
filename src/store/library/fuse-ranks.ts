/** Far enough that the first place of one list does not beat the second places of both. */
const K = 60

/** Several rankings as one, by places alone: scores of words and of meanings cannot be compared (Cormack et al., 2009). */
export function fuseRanks(lists: readonly (readonly string[])[]): { id: string; score: number }[] {
  const scores = new Map<string, number>()
  for (const list of lists) {
    for (const [place, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + place + 1))
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score)
}
