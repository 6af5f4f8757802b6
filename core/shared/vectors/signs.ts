const BITS = 32
/** Words are taken four at a time. */
const LANES = 4

/** How many words hold the signs of a vector; what is left over of the last ones stays nought, and differs from nothing. */
export const wordsFor = (dimensions: number): number => Math.ceil(dimensions / (BITS * LANES)) * LANES

/** One bit a number: whether it is above nought. */
export function toSigns(vector: Float32Array, words: Int32Array, at: number): void {
  words.fill(0, at, at + wordsFor(vector.length))
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) words[at + (i >>> 5)]! |= 1 << (i & 31)
}

export interface Counting {
  /** Filled with the number of signs in which each differs. */
  readonly distances: Uint16Array
  readonly count: number
  /** Which ones; without, the first `count`. */
  readonly slots?: Int32Array | undefined
}

/**
 * Compares signs with those of a question; returns how many differ in 0, 1, 2 … of them. Bits are counted in pairs, then
 * fours, then bytes, of four words together: https://graphics.stanford.edu/~seander/bithacks.html#CountBitsSetParallel.
 */
export function countDistances(signs: Int32Array, query: Int32Array, { distances, count, slots }: Counting) {
  const words = query.length
  const histogram = new Uint32Array(words * BITS + 1)
  for (let i = 0; i < count; i++) {
    let distance = 0
    for (let word = 0, at = (slots ? slots[i]! : i) * words; word < words; word += LANES, at += LANES) {
      const a = inFours(signs[at]! ^ query[word]!)
      const b = inFours(signs[at + 1]! ^ query[word + 1]!)
      const c = inFours(signs[at + 2]! ^ query[word + 2]!)
      const d = inFours(signs[at + 3]! ^ query[word + 3]!)
      const bytes = inBytes(a + b) + inBytes(c + d)
      distance += Math.imul(bytes, 0x01010101) >>> 24
    }
    distances[i] = distance
    histogram[distance]!++
  }
  return histogram
}

/** Eight counts of four bits each. */
function inFours(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
}

/** Four counts of eight bits each, from two numbers' counts of four: at most 8 in each, so none runs over. */
const inBytes = (fours: number): number => (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f)
