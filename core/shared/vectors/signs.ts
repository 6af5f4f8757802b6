const BITS = 32
/** Words are processed four at a time. */
const LANES = 4

/** How many words the signs of a vector need. Unused bits of the last ones stay zero and never differ. */
export const wordsFor = (dimensions: number): number => Math.ceil(dimensions / (BITS * LANES)) * LANES

/** One bit per number: whether it is positive. */
export function toSigns(vector: Float32Array, words: Int32Array, at: number): void {
  words.fill(0, at, at + wordsFor(vector.length))
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) words[at + (i >>> 5)]! |= 1 << (i & 31)
}

export interface Counting {
  /** Filled with the number of differing signs of each vector. */
  readonly distances: Uint16Array
  readonly count: number
  /** Which vectors; without it, the first `count`. */
  readonly slots?: Int32Array | undefined
}

/**
 * Compares signs with those of a query, and returns how many vectors differ in 0, 1, 2 … of them. Bits are counted in
 * pairs, then fours, then bytes, of four words together:
 * https://graphics.stanford.edu/~seander/bithacks.html#CountBitsSetParallel.
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

/** Four counts of eight bits from two numbers' counts of four bits: at most 8 each, so none overflows. */
const inBytes = (fours: number): number => (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f)
