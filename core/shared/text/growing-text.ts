/** Pieces are joined when they are so long together, in UTF-16 units. */
const BLOCK = 8192

/**
 * A text that comes in small pieces, in little more memory than it has letters. Added to a string, each piece would stay an
 * object of its own, with another that says what it follows, until somebody reads the text: four times the text's own size.
 */
export class GrowingText {
  #blocks: string[] = []
  #pieces: string[] = []
  /** Of the pieces that are not joined yet. */
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

  /** All of it so far. What was joined stays so: whoever asks again is told at little cost. */
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
