/**
 * A vector of length 1, as they are stored: a cosine is then one multiplication per number. A zero vector stays zero.
 */
export function toUnit(numbers: ArrayLike<number>): Float32Array<ArrayBuffer> {
  let squares = 0
  for (let i = 0; i < numbers.length; i++) squares += numbers[i]! * numbers[i]!
  const length = Math.sqrt(squares)
  return Float32Array.from(numbers, (number) => (length === 0 ? 0 : number / length))
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

export const toBytes = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)

export function fromBytes(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes
  // A Float32Array must start at a multiple of four bytes.
  if (byteOffset % 4 !== 0) return fromBytes(new Uint8Array(bytes))
  return new Float32Array(buffer, byteOffset, Math.floor(byteLength / 4))
}

export const toBase64 = (vector: Float32Array): string => Buffer.from(toBytes(vector)).toString("base64")

export const fromText = (text: string): Float32Array => fromBytes(Buffer.from(text, "base64"))

/** The results of an index with exact scores, sorted. Vectors that no longer exist are left out. */
export function rank<Row extends { readonly vector: Float32Array }>(
  query: Float32Array,
  rows: readonly Row[],
  limit: number,
): (Row & { score: number })[] {
  return rows
    .filter(({ vector }) => vector.length === query.length)
    .map((row) => ({ ...row, score: dot(query, row.vector) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}
