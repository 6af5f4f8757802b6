import type { Embedder } from "../../core/protocol/workspace.ts"

/** An embedder for tests: texts are similar if they share words. Fast and deterministic. */
export class WordEmbedder implements Embedder {
  readonly name: string
  readonly dimensions: number
  /** Every text that it got. */
  readonly seen: string[] = []
  /** The number of requests, answered or not. */
  asked = 0
  /** If set, the error to throw instead. */
  failure: ((texts: readonly string[]) => Error | undefined) | undefined
  /** Answers wait for this. */
  held: Promise<unknown> = Promise.resolve()

  constructor(name = "test/words", dimensions = 256) {
    this.name = name
    this.dimensions = dimensions
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    this.asked++
    await this.held
    signal.throwIfAborted()
    const error = this.failure?.(texts)
    if (error) throw error
    this.seen.push(...texts)
    return texts.map((text) => this.vectorOf(text))
  }

  vectorOf(text: string): Float32Array {
    const vector = new Float32Array(this.dimensions)
    for (const word of text.toLowerCase().match(/\p{L}+|\p{Emoji}/gu) ?? []) {
      let hash = 7
      for (const character of word) hash = (Math.imul(hash, 31) + character.codePointAt(0)!) >>> 0
      vector[hash % this.dimensions]!++
    }
    const length = Math.hypot(...vector)
    return length === 0 ? vector : vector.map((number) => number / length)
  }
}
