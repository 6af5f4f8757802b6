import { type AppError, failure } from "../../protocol/errors.ts"

/** The expected content of a file. */
export interface Content {
  readonly sha256: string
  readonly size: number
}

export interface StoredName {
  readonly name: string
  readonly writtenAt: number
}

/** A place for bytes that are too large for rows. Names are random, used once, and reveal nothing about the content. */
export interface ByteStore {
  /** Complete and durable when it resolves. Rejects with `store_unavailable`; then the name does not exist. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** In portions, up to `most`, verified before the first one. Throws `file_unreadable`. */
  read(name: string, content: Content, most?: number): AsyncIterable<Uint8Array>
  /** Resolves when none of them exists. */
  remove(names: readonly string[]): Promise<void>
  /** All names, also of incomplete files. */
  list(): AsyncIterable<StoredName>
}

/** An error about one file, with a text that tells its person what to do. */
export const unreadable = (problem: string): AppError => failure("file_unreadable", { problem })
