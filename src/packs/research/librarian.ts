import { createHash } from "node:crypto"
import { codeOf, failure, hasCode } from "../../protocol/errors.ts"
import type { CollectionId, DocumentId, UserId } from "../../protocol/ids.ts"
import type { DocumentKind, IngestAnswer, PassageSearch } from "../../protocol/library.ts"
import type { Kept, LibraryRecords, ReadDocument } from "../../protocol/library-port.ts"
import { mendText } from "../../protocol/text.ts"
import type { Embedder } from "../../protocol/workspace-port.ts"
import { cutPassages } from "./cut-passages.ts"
import { PdfReader } from "./pdf-reader.ts"
import { searchLibrary } from "./search-library.ts"
import { readArxivLine } from "./read-arxiv.ts"
import { kindOf, readFile } from "./read-file.ts"
import type { ReadText } from "./read-plain.ts"

/** What somebody hands in. */
export interface GivenFile {
  readonly name: string
  readonly bytes: Uint8Array
  readonly title?: string | undefined
  readonly authors?: readonly string[] | undefined
  readonly date?: string | undefined
}

export interface Place {
  readonly user: UserId
  readonly collection: CollectionId
  readonly signal: AbortSignal
}

/** What became of one document. */
export interface Ingested {
  readonly source: string
  readonly became: Kept | "failed"
  readonly id: DocumentId
  readonly reason?: string
}

export const MOST_FILE_BYTES = 64 * 1024 * 1024
const MOST_CHARACTERS = 10_000_000
/** Of lines of papers, which are small, so many are written at a time and share their commits. */
const LINES_AT_ONCE = 16
const MOST_BAD = 80
const MOST_SHOWN = 100

/** Reads what people hand in, cuts it into passages and puts it into their collections. */
export class Librarian {
  readonly records: LibraryRecords
  readonly #embedder: Embedder
  readonly #pdf: PdfReader

  constructor(records: LibraryRecords, embedder: Embedder, pdf = new PdfReader()) {
    this.records = records
    this.#embedder = embedder
    this.#pdf = pdf
  }

  search = (user: UserId, search: PassageSearch, signal: AbortSignal) =>
    searchLibrary({ library: this.records, embedder: this.#embedder }, { user, search, signal })

  /** One file: one document, or one for each of its lines. */
  async ingest(place: Place, file: GivenFile): Promise<IngestAnswer> {
    const all: Ingested[] = []
    for await (const one of this.ingestEach(place, file)) all.push(one)
    const items = await Promise.all(all.slice(0, MOST_SHOWN).map(({ id }) => this.records.document(place.user, id)))
    const count = (became: Ingested["became"]) => all.filter((each) => each.became === became).length
    return {
      ...{ added: count("added"), replaced: count("replaced") },
      ...{ unchanged: count("unchanged"), failed: count("failed") },
      items: items.filter((item) => item !== undefined),
    }
  }

  async *ingestEach(place: Place, file: GivenFile): AsyncGenerator<Ingested> {
    const { name, bytes } = file
    if (bytes.byteLength > MOST_FILE_BYTES)
      throw failure("document_too_large", { what: name.slice(0, 200), most: `${MOST_FILE_BYTES / 1024 / 1024} MB` })
    const kind = kindOf(name, bytes)
    if (kind === "arxiv") yield* this.ingestLines(place, linesOf(Buffer.from(bytes).toString()), name)
    else yield await this.#ingestFile(place, file, kind)
  }

  /** Papers, a line each; what is wrong with one holds up no other. */
  async *ingestLines(
    place: Place,
    lines: AsyncIterable<string> | Iterable<string>,
    name: string,
  ): AsyncGenerator<Ingested> {
    let batch: Promise<Ingested>[] = []
    let number = 0
    const bad: Ingested[] = []
    let good = 0
    try {
      for await (const line of lines) {
        number++
        place.signal.throwIfAborted()
        if (line.trim() === "") continue
        const one = this.#ingestLine(place, line, `${name}, line ${number}`)
        one.catch(() => {}) // it is waited for below, and must not end the process before that
        batch.push(one)
        if (batch.length < LINES_AT_ONCE) continue
        const became = await Promise.all(batch)
        batch = []
        yield* became
        for (const each of became) {
          if (each.became !== "failed") good++
          else bad.push(each)
        }
        // A file of other lines would fill the collection with what is wrong with each of them.
        if (bad.length < MOST_BAD || bad.length < good) continue
        const reason = `these are no lines of papers (${bad[0]?.reason}); what follows line ${number} was not read`
        yield await this.#failed(place, { source: mendText(name), kind: "arxiv", hash: hashOf(reason) }, reason)
        return
      }
      yield* await Promise.all(batch)
    } finally {
      await Promise.allSettled(batch) // nothing is written any more when this has ended
    }
  }

  async #ingestLine({ user, collection }: Place, line: string, where: string): Promise<Ingested> {
    const paper = readArxivLine(line)
    const hash = hashOf(line)
    if ("problem" in paper)
      return this.#failed({ user, collection }, { source: where, kind: "arxiv", hash }, paper.problem)
    const { text, ...about } = paper
    return this.#unlessUnreadable({ user, collection }, { source: about.source, kind: "arxiv", hash }, async () => {
      const cut = this.#cut({ text, sections: [{ headings: [], start: 0, end: text.length }] })
      return { ...about, ...cut, kind: "arxiv", hash }
    })
  }

  async #ingestFile({ user, collection, signal }: Place, file: GivenFile, kind: DocumentKind): Promise<Ingested> {
    const { name, bytes, title, authors, date } = file
    const source = mendText(name)
    const hash = hashOf(
      bytes,
      title === undefined && authors === undefined && date === undefined ? "" : JSON.stringify([title, authors, date]),
    )
    // Asked before it is read, which may take a minute for a PDF.
    const known = await this.records.isKept(user, collection, { source, hash })
    if (known) return { source, became: "unchanged", id: known }
    return this.#unlessUnreadable({ user, collection }, { source, kind, hash }, async () => {
      const read = await readFile(kind, bytes, { pdf: this.#pdf, signal })
      return {
        ...{ source, kind, hash, ...this.#cut(read) },
        title: title ?? read.title ?? (source.split("/").at(-1) as string),
        authors: authors ?? read.authors ?? [],
        date: date ?? read.date ?? null,
      }
    })
  }

  /** Keeps what could be read; of what could not, why. */
  async #unlessUnreadable(
    place: Omit<Place, "signal">,
    of: Pick<ReadDocument, "source" | "kind" | "hash">,
    read: () => Promise<ReadDocument>,
  ): Promise<Ingested> {
    let document: ReadDocument
    try {
      document = await read()
    } catch (error) {
      if (!UNREADABLE.includes(codeOf(error) ?? "")) throw error
      return this.#failed(place, of, reasonOf(error))
    }
    const { id, kept } = await this.records.keep(place.user, place.collection, document)
    return { source: document.source, became: kept, id }
  }

  #cut(read: ReadText): Pick<ReadDocument, "text" | "passages"> {
    const { text, sections } = read
    if (text.length > MOST_CHARACTERS)
      throw failure("document_too_large", { what: "Its text", most: `${MOST_CHARACTERS} characters` })
    const passages = cutPassages(text, sections)
    if (passages.length === 0) throw failure("document_unreadable", { problem: "there is no text in it" })
    return { text, passages }
  }

  async #failed(
    { user, collection }: Omit<Place, "signal">,
    of: Pick<ReadDocument, "source" | "kind" | "hash">,
    reason: string,
  ): Promise<Ingested> {
    const id = await this.records.fail(user, collection, { ...of, title: of.source, reason })
    return { source: of.source, became: "failed", id, reason }
  }
}

const UNREADABLE: readonly string[] = ["document_unreadable", "document_too_large"]

const reasonOf = (error: unknown) => {
  const { message, details } = error as { message: string; details?: { problem?: string } }
  return hasCode(error, "document_unreadable") ? (details?.problem ?? message) : message
}

function hashOf(content: Uint8Array | string, more = ""): string {
  return createHash("sha256").update(content).update(more).digest("hex")
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline
    yield text.slice(at, end)
    at = end + 1
  }
}
