import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { MiniLmEmbedder } from "../../labs/minilm/embedder.ts"
import type { Embedder } from "../../core/protocol/workspace.ts"
import { toUnit } from "../../core/shared/vectors/unit.ts"

/** Bytes of a text's SHA-256: enough that a few thousand texts have no collision. */
const HASH_BYTES = 8

/**
 * The local embedder with its vectors stored in a file: reading takes a second, embedding ten minutes. A number has one
 * byte: the nearest to a stored vector is the fresh one, at a cosine of 0.9999. Texts missing from the file are embedded.
 *
 * The file starts with a line of JSON: the embedder's name and the number of vectors. For each vector follow the hash of
 * its text and its numbers.
 */
export class RecordedEmbedder implements Embedder {
  // Two threads: computing the file takes minutes.
  readonly #locals = [new MiniLmEmbedder(), new MiniLmEmbedder()] as const
  readonly #kept: ReadonlyMap<string, Float32Array>
  readonly #fresh = new Map<string, Promise<Float32Array>>()
  readonly #asked = new Set<string>()
  readonly name = this.#locals[0].name
  readonly dimensions = this.#locals[0].dimensions

  constructor(file?: string) {
    this.#kept = file !== undefined && existsSync(file) ? this.#read(readFileSync(file)) : new Map()
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    for (const text of texts) this.#asked.add(text)
    const unknown = texts.filter((text) => !this.#kept.has(hashOf(text)) && !this.#fresh.has(text))
    const made = this.embedAfresh(unknown, signal)
    made.catch(() => {}) // the caller of each vector gets the rejection
    for (const [index, text] of unknown.entries()) {
      const vector = made.then((vectors) => vectors[index]!)
      vector.catch(() => {})
      this.#fresh.set(text, vector)
    }
    return Promise.all(texts.map(async (text) => this.#kept.get(hashOf(text)) ?? (await this.#fresh.get(text)!)))
  }

  /** By the local embedder, whatever the file contains. */
  async embedAfresh(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const turns = this.#locals.length
    const shares = await Promise.all(
      this.#locals.map((local, turn) =>
        local.embed(
          texts.filter((_, index) => index % turns === turn),
          signal,
        ),
      ),
    )
    return texts.map((_, index) => shares[index % turns]![Math.floor(index / turns)]!)
  }

  /** Requested texts that were not in the file. */
  get missing(): readonly string[] {
    return [...this.#fresh.keys()]
  }

  /** Some of the requested texts in the file: from the shortest to the longest, evenly. */
  sample(count: number): string[] {
    const known = [...this.#asked].filter((text) => this.#kept.has(hashOf(text)))
    const byLength = known.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    const step = (byLength.length - 1) / (count - 1)
    return byLength.length < count ? byLength : Array.from({ length: count }, (_, i) => byLength[Math.round(i * step)]!)
  }

  async write(file: string): Promise<void> {
    const vectors = await Promise.all([...this.#fresh].map(async ([text, vector]) => ({ text, vector: await vector })))
    const head = { embedder: this.name, dimensions: this.dimensions, vectors: vectors.length }
    const rows = vectors.map(({ text, vector }) => Buffer.concat([Buffer.from(hashOf(text), "hex"), toBytes(vector)]))
    writeFileSync(file, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...rows.sort(Buffer.compare)]))
  }

  close = () => Promise.all(this.#locals.map((local) => local.close()))

  /** Empty if another embedder computed the file. */
  #read(file: Buffer): Map<string, Float32Array> {
    const end = file.indexOf("\n")
    const head = JSON.parse(file.toString("utf8", 0, end)) as { embedder: string; dimensions: number; vectors: number }
    if (head.embedder !== this.name || head.dimensions !== this.dimensions) return new Map()
    const size = HASH_BYTES + this.dimensions
    return new Map(
      Array.from({ length: head.vectors }, (_, i) => {
        const at = end + 1 + i * size
        const numbers = new Int8Array(file.subarray(at + HASH_BYTES, at + size))
        return [file.toString("hex", at, at + HASH_BYTES), toUnit(numbers)]
      }),
    )
  }
}

const hashOf = (text: string) =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 2 * HASH_BYTES)

/** The largest number is 127; the length, which is 1, is not stored. */
function toBytes(vector: Float32Array): Buffer {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  const numbers = Int8Array.from(vector, (number) => (largest === 0 ? 0 : Math.round((number / largest) * 127)))
  return Buffer.from(numbers.buffer)
}
