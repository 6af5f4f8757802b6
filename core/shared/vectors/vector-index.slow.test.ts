import fc from "fast-check"
import { expect, test } from "vitest"
import { IndexCache } from "./index-cache.ts"
import { countDistances, toSigns, wordsFor } from "./signs.ts"
import { dot, fromText, rank, toBase64, toUnit } from "./unit.ts"
import { VectorIndex } from "./vector-index.ts"

/** Pseudo-random numbers, the same in every run. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}

const vectorOf = (dimensions: number, roll: () => number) => toUnit(Float32Array.from({ length: dimensions }, roll))

test("the distance of signs is the number of differing signs, for any length", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer(), (dimensions, seed) => {
      const roll = dice(seed)
      const [a, b] = [vectorOf(dimensions, roll), vectorOf(dimensions, roll)]
      const words = wordsFor(dimensions)
      const [signs, query] = [new Int32Array(2 * words), new Int32Array(words)]
      toSigns(a, signs, words) // not the first of its array
      toSigns(b, query, 0)
      const distances = new Uint16Array(1)
      const histogram = countDistances(signs, query, { distances, count: 1, slots: Int32Array.of(1) })
      const differing = [...a].filter((number, i) => number > 0 !== b[i]! > 0).length
      expect(distances[0]).toBe(differing)
      expect(histogram[differing]).toBe(1)
    }),
  )
})

test("a small collection is ranked as exact cosines rank it", () => {
  const roll = dice(1)
  const index = new VectorIndex(24)
  const vectors = Array.from({ length: 500 }, (_, i) => ({ id: `n${i}`, vector: vectorOf(24, roll) }))
  for (const { id, vector } of vectors) index.set(id, vector)
  const query = vectorOf(24, roll)
  const exact = rank(query, vectors, 10)
  const found = index.nearest(query, 20).map(({ id }) => id)
  expect(exact.every(({ id }) => found.includes(id))).toBe(true)
  expect(index.nearest(query, 1)[0]!.score).toBeCloseTo(exact[0]!.score, 2)
})

test("hardly any match among many vectors is missed", () => {
  const roll = dice(7)
  const topics = Array.from({ length: 200 }, () => vectorOf(384, roll))
  const index = new VectorIndex(384)
  const vectors = Array.from({ length: 12_000 }, (_, i) => {
    const topic = topics[i % topics.length]!
    return { id: `n${i}`, vector: toUnit(topic.map((number) => number + 0.04 * roll())) }
  })
  for (const { id, vector } of vectors) index.set(id, vector)
  let hits = 0
  for (const topic of topics.slice(0, 20)) {
    const query = toUnit(topic.map((number) => number + 0.04 * roll()))
    const found = new Set(index.nearest(query, 40).map(({ id }) => id))
    hits += rank(query, vectors, 10).filter(({ id }) => found.has(id)).length
  }
  expect(hits / 200).toBeGreaterThanOrEqual(0.99)
})

test("after any additions, replacements and removals, exactly the existing vectors are found", () => {
  const step = fc.record({ id: fc.integer({ min: 0, max: 150 }), put: fc.boolean(), seed: fc.integer() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const index = new VectorIndex(8)
      const there = new Map<string, Float32Array>()
      for (const { id, put, seed } of steps) {
        const vector = vectorOf(8, dice(seed))
        if (put) there.set(`n${id}`, vector) && index.set(`n${id}`, vector)
        else there.delete(`n${id}`) && index.delete(`n${id}`)
      }
      expect(index.size).toBe(there.size)
      for (const [id, vector] of there) {
        const { score } = index.nearest(vector, there.size).find((near) => near.id === id)!
        expect(score).toBeCloseTo(dot(vector, vector), 1)
      }
    }),
    { numRuns: 30 },
  )
})

test("only the requested vectors are found, also if there are more than the second pass compares", () => {
  const roll = dice(3)
  const index = new VectorIndex(1536)
  const even = new Set<string>()
  for (let i = 0; i < 3000; i++) {
    index.set(`n${i}`, vectorOf(1536, roll))
    if (i % 2 === 0) even.add(`n${i}`)
  }
  const query = vectorOf(1536, roll)
  const found = index.nearest(query, 10, even)
  expect(found).toHaveLength(10)
  expect(found.every(({ id }) => even.has(id))).toBe(true)
  expect(index.nearest(query, 10, ["n1", "gone"]).map(({ id }) => id)).toEqual(["n1"])
  expect(index.nearest(query, 10, [])).toEqual([])
})

test("a vector of another embedder matches none", () => {
  const index = new VectorIndex(4)
  expect(index.nearest(Float32Array.of(1), 5)).toEqual([])
  expect(() => index.set("a", Float32Array.of(1))).toThrow("does not fit")
  index.set("nought", new Float32Array(4))
  expect(index.nearest(Float32Array.of(1, 0, 0, 0), 5)).toEqual([{ id: "nought", score: 0 }])
})

test("a vector survives conversion to text", () => {
  const vector = vectorOf(384, dice(5))
  expect([...fromText(toBase64(vector))]).toEqual([...vector])
})

test("unused indexes, and the least recently used of too many, are dropped", () => {
  const alarms: (() => void)[] = []
  let now = 0
  const clock = { now: () => now, alarm: (_ms: number, ring: () => void) => (alarms.push(ring), () => {}) }
  const kept = new IndexCache<{ bytes: number }>({ clock, idleMs: 100, mostBytes: 250 })
  const [a] = ["a", "b", "c"].map((owner) => kept.of(owner, () => ({ bytes: 100 })))
  expect(kept.of("a", () => ({ bytes: 0 }))).toBe(a)
  kept.trim()
  expect(kept.size).toBe(2)
  expect(kept.of("a", () => ({ bytes: 0 }))).toBe(a) // used last, so b was dropped
  now = 50
  kept.of("a", () => ({ bytes: 0 }))
  now = 120
  alarms.shift()!()
  expect(kept.size).toBe(1)
  now = 400
  alarms.shift()!()
  expect(kept.size).toBe(0)
  expect(alarms).toHaveLength(0)
})
