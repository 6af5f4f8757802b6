import type { VectorIndex } from "../../shared/vectors/vector-index.ts"
import type { FiledIndex } from "./index-file.ts"
import type { IndexFiles } from "./index-files.ts"

/** An index in memory that may also be in a file. */
export interface Filing {
  readonly index: VectorIndex
  /** How many are in the file that was written or read last, and when that was. */
  filed: number
  filedAt: number
}

/** Fewer are read from their rows in a moment. */
const WORTH_A_FILE = 2000
/** A file is written anew when so much of the index is not in it: what is missing there is read from rows. */
const NOT_IN_FILE = 0.1
/** Where documents come and go all the time, a file is written so often at most. */
const FILED_EVERY_MS = 60_000
/** An index that is changed while it is written down is written down again. */
const MAX_TRIES = 3

export interface WritingOptions {
  readonly now: () => number
  readonly least?: number | undefined
}

/** Writes indexes into files when that is worth it, in the background and one at a time. */
export class IndexWriting {
  readonly #files: IndexFiles
  readonly #now: () => number
  readonly #least: number
  #writing: Promise<void> = Promise.resolve()

  constructor(files: IndexFiles, { now, least = WORTH_A_FILE }: WritingOptions) {
    this.#files = files
    this.#now = now
    this.#least = least
  }

  /**
   * `toFile`: what is to be written, or nothing; `changed` where it was read on in between, and is to be asked for again. A file
   * that could not be written is one that is not there.
   */
  writeIfDue(owner: string, kept: Filing, toFile: () => Promise<FiledIndex | "changed" | undefined>): void {
    const { size } = kept.index
    const isDue = this.#now() - kept.filedAt >= FILED_EVERY_MS
    if (!isDue || size < this.#least || size - kept.filed <= size * NOT_IN_FILE) return
    kept.filed = size
    kept.filedAt = this.#now()
    this.#writing = this.#writing
      .then(async () => {
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const filed = await toFile()
          if (!filed || (filed !== "changed" && (await this.#files.write(owner, filed)))) return
        }
        kept.filed = 0 // with a later search
      })
      .catch(() => this.#files.remove(owner))
      .catch(() => {})
  }

  /** Resolves when no file is being written. */
  settled(): Promise<void> {
    return this.#writing
  }
}
