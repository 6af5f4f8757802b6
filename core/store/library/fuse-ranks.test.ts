import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { fuseRanks, fuseWithMeaning } from "./fuse-ranks.ts"

const idsOf = (fused: readonly { id: string }[]) => fused.map(({ id }) => id)

describe("a search while passages wait for their vectors", () => {
  test("keeps the best passage by words first if only a few others have a vector", () => {
    const words = ["right", "b", "c", "d", "e"]
    const embedded = new Set(["x", "y", "e"])
    const meaning = { ids: ["x", "y", "e"], share: 0.1, hasVector: (id: string) => embedded.has(id) }
    expect(idsOf(fuseWithMeaning(words, meaning))).toEqual([...words, "x", "y"])
  })

  test("ranks by words alone if no passage has a vector", () => {
    const meaning = { ids: [], share: 0, hasVector: () => false }
    expect(idsOf(fuseWithMeaning(["a", "b"], meaning))).toEqual(["a", "b"])
  })

  test("ranks by both as soon as every passage has one", () => {
    const list = fc.uniqueArray(fc.constantFrom(..."abcdefghijkl"))
    fc.assert(
      fc.property(list, list, (words, ids) => {
        expect(fuseWithMeaning(words, { ids, share: 1, hasVector: () => true })).toEqual(fuseRanks([words, ids]))
      }),
    )
  })

  test("never ranks a passage above the best by words only because it was embedded first", () => {
    const list = fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map(String), { minLength: 1 })
    const share = fc.double({ min: 0.001, max: 0.5, noNaN: true })
    fc.assert(
      fc.property(list, list, share, (words, ids, part) => {
        const known = new Set(ids)
        const [best] = idsOf(fuseWithMeaning(words, { ids, share: part, hasVector: (id) => known.has(id) }))
        expect(words).toContain(best)
      }),
    )
  })
})
