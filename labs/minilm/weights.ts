/** All 16-bit floats as 32-bit floats. A lookup takes a tenth of the time of a conversion. */
const FLOATS = Float32Array.from(new Float16Array(Uint16Array.from({ length: 65_536 }, (_, i) => i).buffer))

/** A table of 16-bit numbers as in the file, row by row. */
export class Tensor {
  readonly shape: readonly number[]
  readonly #numbers: Uint16Array

  constructor(shape: readonly number[], numbers: Uint16Array) {
    this.shape = shape
    this.#numbers = numbers
  }

  /** Copies numbers from an index. */
  copy(from: number, into: Float32Array, at = 0, length = into.length): void {
    for (let i = 0; i < length; i++) into[at + i] = FLOATS[this.#numbers[from + i]!]!
  }

  get all(): Float32Array {
    const numbers = new Float32Array(this.#numbers.length)
    this.copy(0, numbers)
    return numbers
  }
}

interface Entry {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [start: number, end: number]
}

/** Reads weights in the safetensors format: the length of a JSON header, the header, the numbers. */
export function readWeights(file: Uint8Array): (name: string) => Tensor {
  const { buffer, byteOffset } = file
  const headerBytes = Number(new DataView(buffer, byteOffset).getBigUint64(0, true))
  const header = JSON.parse(Buffer.from(buffer, byteOffset + 8, headerBytes).toString()) as Record<string, Entry>
  return (name) => {
    const entry = Object.hasOwn(header, name) ? header[name] : undefined
    if (entry?.dtype !== "F16") throw new Error(`there is no table "${name}" of short floats in the weights`)
    const [start, end] = entry.data_offsets
    // Copied, because the numbers must be aligned, and so that the file can be released.
    const bytes = new Uint8Array(file.subarray(8 + headerBytes + start, 8 + headerBytes + end))
    return new Tensor(entry.shape, new Uint16Array(bytes.buffer))
  }
}

/** The columns of a product as bytes, with the constants that convert the result. */
export interface ByteColumns {
  readonly bytes: Int8Array
  /** Scales of all columns, then scale times the sum of bytes, then biases. */
  readonly constants: Float32Array
}

const LARGEST = 127

/** Converts to one byte per number, with a scale per column. `factor` is multiplied into all of them. */
export function toByteColumns(weight: Tensor, bias: Tensor, factor = 1): ByteColumns {
  const [count, length] = weight.shape as [number, number]
  const bytes = new Int8Array(count * length)
  const constants = new Float32Array(3 * count)
  const column = new Float32Array(length)
  const biases = bias.all
  for (let c = 0; c < count; c++) {
    weight.copy(c * length, column)
    let most = 0
    for (let i = 0; i < length; i++) most = Math.max(most, Math.abs(column[i]!))
    const scale = most / LARGEST || 1
    let sum = 0
    for (let i = 0; i < length; i++) sum += bytes[c * length + i] = Math.round(column[i]! / scale)
    constants[c] = scale * factor
    constants[count + c] = scale * factor * sum
    constants[2 * count + c] = biases[c]! * factor
  }
  return { bytes, constants }
}

/** Joins the columns of several products over the same rows. */
export function joinByteColumns(parts: readonly ByteColumns[]): ByteColumns {
  const total = parts.reduce((sum, { constants }) => sum + constants.length / 3, 0)
  const bytes = new Int8Array(parts.reduce((sum, part) => sum + part.bytes.length, 0))
  const constants = new Float32Array(3 * total)
  let [at, first] = [0, 0]
  for (const part of parts) {
    bytes.set(part.bytes, at)
    at += part.bytes.length
    const count = part.constants.length / 3
    for (let kind = 0; kind < 3; kind++)
      constants.set(part.constants.subarray(kind * count, (kind + 1) * count), kind * total + first)
    first += count
  }
  return { bytes, constants }
}
