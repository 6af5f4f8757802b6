import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { type IndexParts, partsFor, VectorIndex } from "../../shared/vectors/vector-index.ts"

/** A vector is identified by its document's index in the list and its number. */
export interface IndexHead {
  readonly embedder: string
  readonly dimensions: number
  readonly count: number
  /** The newest vector in it. */
  readonly version: number
  readonly newest: string
  readonly documents: readonly (readonly [document: string, edition: string])[]
}

export interface FiledIndex {
  readonly head: IndexHead
  readonly index: VectorIndex
  /** For each vector: its document's index in the list, and its number in that document. */
  readonly places: Uint32Array
  /** The version of the index that the other fields describe. */
  readonly changes: number
}

/** Changes with the format: a file of another version is replaced. Numbers are little-endian. */
const MAGIC = "pawl vectors 1\n"
const HASH_BYTES = 32
const LENGTH_BYTES = 4
/** Hashed and written at a time, so that other work gets its turn. */
const PIECE = 4 * 1024 * 1024
/** A list of 100,000 documents takes six million. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024

type Bytes = Uint8Array<ArrayBuffer>
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Bytes =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)

/**
 * Writes magic, head length, head, parts and the SHA-256 of everything before. Returns false, and leaves an unreadable
 * file, if the index changed in the meantime.
 */
export async function writeIndexFile(path: string, { head, index, places, changes }: FiledIndex): Promise<boolean> {
  const isSame = () => index.changes === changes
  await using file = await open(path, "wx", 0o600)
  const hash = createHash("sha256")
  const text = Buffer.from(JSON.stringify(head))
  const length = new Uint32Array([text.length])
  const { signs, codes, steps } = index.parts
  for (const part of [Buffer.from(MAGIC), length, text, places, signs, codes, steps].map(bytesOf)) {
    for (let at = 0; at < part.length; at += PIECE) {
      if (!isSame()) return false
      const piece = part.subarray(at, at + PIECE)
      hash.update(piece)
      await file.writeFile(piece)
    }
  }
  if (!isSame()) return false
  await file.writeFile(hash.digest())
  return true
}

interface WantedIndex {
  readonly embedder: string
  readonly dimensions: number
  idOf(document: IndexHead["documents"][number], ordinal: number): string
}

/** Undefined if the file is incomplete, of another version, or of other vectors. */
export async function readIndexFile(path: string, wanted: WantedIndex) {
  await using file = await open(path, "r")
  const reader = new HashingReader(file)
  const head = await readHead(reader)
  if (head?.embedder !== wanted.embedder || head.dimensions !== wanted.dimensions) return undefined
  const parts = partsFor(head.dimensions, head.count)
  const places = new Uint32Array(2 * head.count)
  const { size } = await file.stat()
  const left = [places, parts.signs, parts.codes, parts.steps].map(bytesOf)
  if (size !== reader.at + left.reduce((sum, part) => sum + part.length, HASH_BYTES)) return undefined
  for (const part of left) await reader.fill(part)
  if (!(await reader.isWhole())) return undefined
  const ids = Array.from({ length: head.count }, (_, slot) => {
    return wanted.idOf(head.documents[places[2 * slot]!]!, places[2 * slot + 1]!)
  })
  const index = new VectorIndex(head.dimensions, { ...parts, ids } satisfies IndexParts)
  return { head, places, index, changes: index.changes }
}

/** Reads the head of a file without the rest. */
export async function readIndexHead(path: string): Promise<IndexHead | undefined> {
  await using file = await open(path, "r")
  return await readHead(new HashingReader(file))
}

async function readHead(reader: HashingReader): Promise<IndexHead | undefined> {
  const magic = await reader.fill(new Uint8Array(MAGIC.length))
  if (Buffer.from(magic).toString() !== MAGIC) return undefined
  const length = await reader.fill(new Uint8Array(LENGTH_BYTES))
  const [bytes = 0] = new Uint32Array(length.buffer)
  if (bytes > MAX_HEAD_BYTES) return undefined
  const text = Buffer.from(await reader.fill(new Uint8Array(bytes))).toString()
  try {
    return JSON.parse(text) as IndexHead
  } catch {
    return undefined
  }
}

/** Reads a file sequentially and hashes it. */
class HashingReader {
  readonly #file: FileHandle
  readonly #hash: Hash = createHash("sha256")
  at = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Missing bytes stay 0, so that the hash differs. */
  async fill(into: Bytes): Promise<Bytes> {
    for (let from = 0; from < into.length;) {
      const { bytesRead } = await this.#file.read(into, from, Math.min(PIECE, into.length - from), this.at)
      if (bytesRead === 0) break
      this.#hash.update(into.subarray(from, from + bytesRead))
      from += bytesRead
      this.at += bytesRead
    }
    return into
  }

  async isWhole(): Promise<boolean> {
    const wanted = this.#hash.digest()
    const found = Buffer.alloc(HASH_BYTES)
    await this.#file.read(found, 0, HASH_BYTES, this.at)
    return wanted.equals(found)
  }
}
