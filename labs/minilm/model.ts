import { TILE } from "./attention-kernels.ts"
import { createKernels, INNER_WIDTH, type KernelChoice, type Kernels, MAX_TILE, WIDTH } from "./kernels.ts"
import { joinByteColumns, readWeights, type Tensor, toByteColumns } from "./weights.ts"
import { createMemory } from "./wasm/machine.ts"

const LAYERS = 6
const HEADS = 12
const HEAD_WIDTH = WIDTH / HEADS
/** Query, key and value of a token, concatenated. */
const TRIPLE = 3 * WIDTH
/** The model's longest text. */
export const MAX_TOKENS = 256
/** Bytes of rows that are multiplied with all columns before the next, so that they stay in the L1 cache. */
const BLOCK_BYTES = 24 * 1024
/**
 * Up to this many rows are multiplied twice, the second time with the rounding errors of the first. In long texts the
 * errors cancel out in the mean; in questions they do not.
 */
const MAX_FINE_ROWS = 64

interface Product {
  /** Numbers of an input row and of an output row. */
  readonly length: number
  readonly columns: number
  readonly bytes: number
  readonly constants: number
  readonly constantsWithoutBias: number
}

type Scratch =
  | "rows"
  | "added"
  | "wide"
  | "bytes"
  | "steps"
  | "lows"
  | "scores"
  | "transposed"
  | "errors"
  | "corrections"

interface Rows {
  readonly into: number
  readonly count: number
}

interface Layer {
  readonly triple: Product
  readonly output: Product
  readonly afterAttention: number
  readonly inner: Product
  readonly outer: Product
  readonly afterInner: number
}

/**
 * The model all-MiniLM-L6-v2: takes the tokens of a text and returns the mean of their vectors. Products with weights are
 * computed in bytes, everything else in floats: docs/decisions/033-search-vectors-locally.md.
 */
export class MiniLm {
  readonly #memory = new KernelMemory()
  readonly #kernels: Kernels
  readonly #words: Tensor
  readonly #positions: Float32Array
  readonly #afterEmbedding: number
  readonly #layers: readonly Layer[]
  readonly #scratch: Readonly<Record<Scratch, number>>

  constructor(file: Uint8Array, choice?: KernelChoice) {
    const read = readWeights(file)
    const positions = read("embeddings.position_embeddings.weight").all
    // There is one token type, so its embedding is added to every position.
    const kind = read("embeddings.token_type_embeddings.weight").all
    this.#positions = positions.map((number, i) => number + kind[i % WIDTH]!)
    this.#words = read("embeddings.word_embeddings.weight")
    this.#afterEmbedding = this.#putNormal(read, "embeddings.LayerNorm")
    this.#layers = Array.from({ length: LAYERS }, (_, i) => this.#putLayer(read, `encoder.layer.${i}.`))
    // The last rows of a tile may be unused.
    const rows = (width: number, count = MAX_TOKENS + MAX_TILE) => this.#memory.reserve(count * width * 4)
    this.#scratch = {
      ...{ rows: rows(WIDTH), added: rows(WIDTH), wide: rows(INNER_WIDTH), bytes: rows(INNER_WIDTH / 4) },
      ...{ steps: rows(1), lows: rows(1), scores: rows(MAX_TOKENS + TILE), transposed: rows(HEAD_WIDTH) },
      ...{ errors: rows(INNER_WIDTH, MAX_FINE_ROWS), corrections: rows(INNER_WIDTH, MAX_FINE_ROWS) },
    }
    this.#kernels = createKernels(this.#memory.memory, choice)
  }

  /**
   * The mean vector of a text of at most `MAX_TOKENS`, not normalized. One text at a time, because batches take as long
   * (docs/speed.md).
   */
  embed(tokens: readonly number[]): Float32Array {
    if (tokens.length > MAX_TOKENS) throw new RangeError(`${tokens.length} tokens, and there is room for ${MAX_TOKENS}`)
    const count = Math.ceil(tokens.length / MAX_TILE) * MAX_TILE
    const { rows, added } = this.#scratch
    this.#putTokens(tokens)
    this.#kernels.normalise(rows, added, this.#afterEmbedding, count, WIDTH * 4)
    for (const layer of this.#layers) {
      this.#attend(layer, tokens.length, count)
      this.#kernels.normalise(rows, added, layer.afterAttention, count, WIDTH * 4)
      this.#feedForward(layer, count)
      this.#kernels.normalise(rows, added, layer.afterInner, count, WIDTH * 4)
    }
    return this.#mean(tokens.length)
  }

  /** Self-attention. */
  #attend({ triple, output }: Layer, length: number, count: number): void {
    const { rows, added, wide, scores, transposed } = this.#scratch
    const { floatProduct, softmax, turn } = this.#kernels
    this.#multiply(rows, triple, wide, count)
    const stride = TRIPLE * 4
    // At least one column more than tokens, which the softmax sets to 0.
    const padded = Math.ceil((length + 1) / TILE) * TILE
    for (let head = 0; head < HEADS; head++) {
      const query = wide + head * HEAD_WIDTH * 4
      floatProduct(query, stride, query + WIDTH * 4, stride, scores, padded * 4, length, padded, HEAD_WIDTH * 4)
      softmax(scores, length, padded * 4, length * 4)
      turn(query + 2 * WIDTH * 4, stride, transposed, padded * 4, padded, HEAD_WIDTH)
      const into = added + head * HEAD_WIDTH * 4
      floatProduct(scores, padded * 4, transposed, padded * 4, into, WIDTH * 4, length, HEAD_WIDTH, padded * 4)
    }
    this.#multiply(added, output, added, count)
  }

  #feedForward({ inner, outer }: Layer, count: number): void {
    const { rows, added, wide } = this.#scratch
    this.#multiply(rows, inner, wide, count)
    this.#kernels.gelu(wide, wide + count * INNER_WIDTH * 4)
    this.#multiply(wide, outer, added, count)
  }

  #multiply(from: number, product: Product, into: number, count: number): void {
    const { bytes, steps, lows, errors, corrections } = this.#scratch
    const { length, columns } = product
    this.#kernels.toBytes(from, bytes, steps, lows, count, length * 4)
    const isFine = count <= MAX_FINE_ROWS
    // Before the product, which may overwrite the rows.
    if (isFine) this.#putErrors(from, errors, { count, length })
    this.#multiplyBytes(product, product.constants, { into, count })
    if (!isFine) return
    this.#kernels.toBytes(errors, bytes, steps, lows, count, length * 4)
    this.#multiplyBytes(product, product.constantsWithoutBias, { into: corrections, count })
    const [sums, added] = [
      this.#memory.floats(into, count * columns),
      this.#memory.floats(corrections, count * columns),
    ]
    for (let i = 0; i < sums.length; i++) sums[i]! += added[i]!
  }

  #multiplyBytes({ length, columns, bytes: weights }: Product, constants: number, { into, count }: Rows): void {
    const { bytes, steps, lows } = this.#scratch
    const multiply = length === WIDTH ? this.#kernels.product384 : this.#kernels.product1536
    const block = Math.floor(BLOCK_BYTES / length / MAX_TILE) * MAX_TILE
    for (let row = 0; row < count; row += block) {
      const some = Math.min(block, count - row)
      const [a, out] = [bytes + row * length, into + row * columns * 4]
      multiply(a, weights, out, steps + row * 4, lows + row * 4, constants, some, columns)
    }
  }

  /** Computes the rounding errors of the last conversion to bytes. */
  #putErrors(from: number, into: number, { count, length }: { count: number; length: number }): void {
    const { bytes, steps, lows } = this.#scratch
    const rows = this.#memory.floats(from, count * length)
    const errors = this.#memory.floats(into, count * length)
    const taken = new Uint8Array(this.#memory.memory.buffer, bytes, count * length)
    const [step, low] = [this.#memory.floats(steps, count), this.#memory.floats(lows, count)]
    for (let row = 0, at = 0; row < count; row++)
      for (const end = at + length; at < end; at++) errors[at] = rows[at]! - (low[row]! + step[row]! * taken[at]!)
  }

  #putTokens(tokens: readonly number[]): void {
    const { rows, added } = this.#scratch
    const into = this.#memory.floats(rows, tokens.length * WIDTH)
    for (const [row, token] of tokens.entries()) this.#words.copy(token * WIDTH, into, row * WIDTH, WIDTH)
    this.#memory.floats(added, into.length).set(this.#positions.subarray(0, into.length))
  }

  #mean(length: number): Float32Array {
    const numbers = this.#memory.floats(this.#scratch.rows, length * WIDTH)
    const sum = new Float32Array(WIDTH)
    for (let at = 0; at < numbers.length; at++) sum[at % WIDTH]! += numbers[at]!
    return sum.map((number) => number / length)
  }

  #putLayer(read: (name: string) => Tensor, name: string): Layer {
    const columns = (part: string, factor = 1) =>
      toByteColumns(read(`${name}${part}.weight`), read(`${name}${part}.bias`), factor)
    const query = columns("attention.self.query", 1 / Math.sqrt(HEAD_WIDTH))
    const triple = joinByteColumns([query, columns("attention.self.key"), columns("attention.self.value")])
    return {
      triple: this.#putProduct(triple),
      output: this.#putProduct(columns("attention.output.dense")),
      afterAttention: this.#putNormal(read, `${name}attention.output.LayerNorm`),
      inner: this.#putProduct(columns("intermediate.dense")),
      outer: this.#putProduct(columns("output.dense")),
      afterInner: this.#putNormal(read, `${name}output.LayerNorm`),
    }
  }

  #putProduct({ bytes, constants }: ReturnType<typeof toByteColumns>): Product {
    const columns = constants.length / 3
    const length = bytes.length / columns
    const withoutBias = constants.slice().fill(0, 2 * columns)
    const put = (numbers: Int8Array | Float32Array) => this.#memory.put(numbers)
    return { length, columns, bytes: put(bytes), constants: put(constants), constantsWithoutBias: put(withoutBias) }
  }

  #putNormal(read: (name: string) => Tensor, name: string): number {
    const parts = [read(`${name}.weight`), read(`${name}.bias`)]
    return this.#memory.put(Float32Array.from(parts.flatMap(({ all }) => [...all])))
  }
}

const PAGE = 65_536
const ALIGNED = 64

/** An arena for the kernels, which never frees. */
export class KernelMemory {
  readonly memory = createMemory()
  #end = ALIGNED

  /** Allocates bytes and returns their address. */
  reserve(bytes: number): number {
    const address = this.#end
    this.#end = Math.ceil((address + bytes) / ALIGNED) * ALIGNED
    const missing = Math.ceil((this.#end - this.memory.buffer.byteLength) / PAGE)
    if (missing > 0) this.memory.grow(missing)
    return address
  }

  /** Copies numbers and returns their address. */
  put(numbers: Int8Array | Float32Array): number {
    const address = this.reserve(numbers.byteLength)
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
    new Uint8Array(this.memory.buffer).set(bytes, address)
    return address
  }

  /** A view of numbers at an address. Must not be stored, because growing the memory replaces its buffer. */
  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, length)
  }
}
