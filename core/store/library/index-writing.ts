import type { VectorIndex } from "../../shared/vectors/vector-index.ts"
import type { FiledIndex } from "./index-file.ts"
import type { IndexFiles } from "./index-files.ts"

/** An index in memory that may also be in a file. */
export interface FileState {
  readonly index: VectorIndex
  /** The size of the last file that was written or read, and when. */
  filed: number
  filedAt: number
}

/** Smaller indexes are quickly read from their rows. */
const MIN_FILE_SIZE = 2000
/** A file is replaced when this share of the index is missing in it. */
const MAX_MISSING_SHARE = 0.1
/** The minimum time between two files, for documents that change all the time. */
const MIN_INTERVAL_MS = 60_000
/** How often an index that changes while it is written is written again. */
const MAX_TRIES = 3

export interface WritingOptions {
  readonly now: () => number
  readonly least?: number | undefined
}

/** Writes indexes into files if that saves time, in the background and one at a time. */
export class IndexWriting {
  readonly #files: IndexFiles
  readonly #now: () => number
  readonly #least: number
  #writing: Promise<void> = Promise.resolve()

  constructor(files: IndexFiles, { now, least = MIN_FILE_SIZE }: WritingOptions) {
    this.#files = files
    this.#now = now
    this.#least = least
  }

  /**
   * `toFile` returns what to write, or nothing, or `changed` if the index was extended in the meantime. A failed write
   *   only means that there is no file.
   */
  writeIfDue(owner: string, kept: FileState, toFile: () => Promise<FiledIndex | "changed" | undefined>): void {
    const { size } = kept.index
    const isDue = this.#now() - kept.filedAt >= MIN_INTERVAL_MS
    if (!isDue || size < this.#least || size - kept.filed <= size * MAX_MISSING_SHARE) return
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
