/** Pieces are joined at this total length, in UTF-16 units. */
const BLOCK = 8192

/**
 * A text that arrives in small pieces, in little more memory than its letters need. A string to which pieces are added
 * stays a tree of objects until it is read, which takes four times the memory of the text.
 */
export class GrowingText {
  #blocks: string[] = []
  #pieces: string[] = []
  /** The length of the pieces that are not joined yet. */
  #pending = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: string): void {
    this.#pieces.push(piece)
    this.#pending += piece.length
    this.#length += piece.length
    if (this.#pending >= BLOCK) this.#join()
  }

  /** The text so far. It stays joined, so reading it again is cheap. */
  toString(): string {
    if (this.#pending > 0) this.#join()
    if (this.#blocks.length > 1) this.#blocks = [this.#blocks.join("")]
    return this.#blocks[0] ?? ""
  }

  #join(): void {
    this.#blocks.push(this.#pieces.join(""))
    this.#pieces = []
    this.#pending = 0
  }
}
