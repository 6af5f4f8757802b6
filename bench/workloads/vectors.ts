import { performance } from "node:perf_hooks"
import { rank, toUnit } from "../../core/shared/vectors/unit.ts"
import { VectorIndex } from "../../core/shared/vectors/vector-index.ts"
import { median, type Numbers } from "../meters.ts"

interface Settings {
  readonly vectors: number
  readonly queries: number
}

type Search = (query: Float32Array) => readonly number[]

const WANTED = 10
/** As the store requests: this many candidates, which are then compared exactly. */
const CANDIDATES = 40

/** W8, the search by meaning: the ten nearest of many vectors. The floor multiplies every number of every vector. */
export function nearest(isFloor: boolean, { vectors, queries }: Settings): Numbers {
  const small = measure(isFloor, 384, { vectors, queries })
  const large = measure(isFloor, 1536, { vectors, queries })
  return { ...small, largeP50: large.p50!, largeP95: large.p95!, largeMissed: large.missed!, largeMb: large.mb! }
}

function measure(isFloor: boolean, dimensions: number, { vectors, queries }: Settings): Numbers {
  const { base, asked } = makeVectors(dimensions, vectors, queries)
  const exact = scanOf(base, dimensions)
  const began = performance.now()
  const { search, bytes } = isFloor ? { search: exact, bytes: base.byteLength } : indexOf(base, dimensions)
  const buildMs = performance.now() - began
  for (let i = 0; i < 5; i++) search(asked[i % asked.length]!)
  const times: number[] = []
  let hits = 0
  for (const query of asked) {
    const start = performance.now()
    const found = search(query)
    times.push(performance.now() - start)
    const truth = isFloor ? found : exact(query)
    hits += truth.filter((place) => found.includes(place)).length
  }
  times.sort((a, b) => a - b)
  const p95 = times[Math.floor(times.length * 0.95)]!
  const missed = 100 * (1 - hits / (asked.length * WANTED))
  return { p50: median(times), p95, missed, buildMs, mb: bytes / 1e6 }
}

function scanOf(base: Float32Array, dimensions: number): Search {
  return (query) => {
    const best: { place: number; score: number }[] = []
    for (let at = 0, place = 0; at < base.length; place++) {
      let score = 0
      for (let i = 0; i < dimensions; i++, at++) score += query[i]! * base[at]!
      if (best.length === WANTED && score <= best[WANTED - 1]!.score) continue
      best.push({ place, score })
      best.sort((a, b) => b.score - a.score)
      best.length = Math.min(best.length, WANTED)
    }
    return best.map(({ place }) => place)
  }
}

function indexOf(base: Float32Array, dimensions: number): { search: Search; bytes: number } {
  const index = new VectorIndex(dimensions)
  const at = (place: number) => base.subarray(place * dimensions, (place + 1) * dimensions)
  for (let place = 0; place < base.length / dimensions; place++) index.set(String(place), at(place))
  const search: Search = (query) => {
    const near = index.nearest(query, CANDIDATES).map(({ id }) => ({ place: Number(id), vector: at(Number(id)) }))
    return rank(query, near, WANTED).map(({ place }) => place)
  }
  return { search, bytes: index.bytes }
}

/** Texts lie in heaps and between them: each vector is a mixture of two topics and some chance, as is each question. */
function makeVectors(dimensions: number, count: number, queries: number) {
  const roll = dice()
  const topics = Array.from({ length: 1500 }, () => toUnit(Float32Array.from({ length: dimensions }, roll)))
  const any = () => topics[Math.floor((roll() + 1) * 0.5 * topics.length)]!
  const noise = Math.sqrt(0.75 / dimensions)
  const mix = (into: Float32Array) => {
    const [a, b, share] = [any(), any(), 0.65 + 0.35 * roll()]
    let squares = 0
    for (let i = 0; i < dimensions; i++) {
      into[i] = share * a[i]! + (1 - share) * b[i]! + noise * roll()
      squares += into[i]! * into[i]!
    }
    const length = Math.sqrt(squares)
    for (let i = 0; i < dimensions; i++) into[i]! /= length
    return into
  }
  const base = new Float32Array(count * dimensions)
  for (let at = 0; at < base.length; at += dimensions) mix(base.subarray(at, at + dimensions))
  return { base, asked: Array.from({ length: queries }, () => mix(new Float32Array(dimensions))) }
}

/** From -1 to 1, and the same in every run. */
function dice(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}
