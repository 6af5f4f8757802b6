import { type AppError, failure } from "../../protocol/errors.ts"

/** What bytes have to be, by the row of their file. */
export interface Content {
  readonly sha256: string
  readonly size: number
}

export interface PlacedBytes {
  readonly name: string
  readonly writtenAt: number
}

/**
 * Where bytes lie that are too large for rows of the database: a folder, or whatever can promise the same. Names are made
 * by us, one for each file that is ever written, and say nothing about it.
 */
export interface BytesPlace {
  /** Whole and durable when it resolves. Rejects with `store_unavailable`, and then nothing has the name. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** In portions, as far as `most`, checked before the first is given. Throws `file_unreadable`. */
  read(name: string, content: Content, most?: number): AsyncIterable<Uint8Array>
  /** Resolves when nothing of them is left, also where there was nothing. */
  remove(names: readonly string[]): Promise<void>
  /** All that is there, whole or not. */
  list(): AsyncIterable<PlacedBytes>
}

/** Costs the one file that is asked for. The words are for its person, and say what can be done. */
export const unreadable = (problem: string): AppError => failure("file_unreadable", { problem })
