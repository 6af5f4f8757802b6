import { createHash } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import {
  type CollectionId,
  type DocumentId,
  type Embedder,
  failure,
  type IngestAnswer,
  type DocumentChange,
  type LibraryRecords,
  mendText,
  type PassageSearch,
  type ReadDocument,
  type UserId,
} from "../../core/pack.ts"
import { type About, type FileKind, type PaperAbout, unreadableReason, toRefused } from "./document-job.ts"
import { kindOf } from "./document-kind.ts"
import { DocumentReader, type Reading, type ReadParts } from "./document-reader.ts"
import { searchLibrary } from "./search-library.ts"

/** A file that a user adds. */
export interface NewFile {
  readonly name: string
  /** Its key in earlier versions of Pawl. */
  readonly formerly?: string
  readonly bytes: Uint8Array
  readonly title?: string | undefined
  readonly authors?: readonly string[] | undefined
  readonly date?: string | undefined
}

export interface CollectionUse {
  readonly user: UserId
  readonly collection: CollectionId
  readonly signal: AbortSignal
}

/** The outcome for one document. */
export interface Ingested {
  readonly source: string
  readonly became: DocumentChange | "failed"
  readonly id: DocumentId
  /** Why it failed, or which part could not be read. */
  readonly reason?: string
}

export const MAX_FILE_BYTES = 64 * 1024 * 1024
/** Characters of lines read in one turn of the event loop, so that other requests are not held up. */
const PASSED_AT_ONCE = 64 * 1024
/** Records of papers, which are small, so several are written at once and share a commit. */
const LINES_AT_ONCE = 16
const MAX_BAD = 80
const MAX_SHOWN = 100

/** Reads files, cuts their text into passages and stores these in collections. */
export class Librarian {
  readonly records: LibraryRecords
  readonly #embedder: Embedder
  readonly #reader: DocumentReader

  constructor(records: LibraryRecords, embedder: Embedder, reader = new DocumentReader()) {
    this.records = records
    this.#embedder = embedder
    this.#reader = reader
  }

  /** Ends its child processes. */
  close = () => this.#reader.close()

  /** Returns the text of a PDF without storing it. Throws `document_unreadable` and `document_too_large`. */
  async readPdf(bytes: Uint8Array, reading: Reading): Promise<{ text: string; pages?: number }> {
    const { text, about } = await this.#reader.file("pdf", bytes, reading)
    return { text, ...(about.pages === undefined ? {} : { pages: about.pages }) }
  }

  search = (user: UserId, search: PassageSearch, signal: AbortSignal) =>
    searchLibrary({ library: this.records, embedder: this.#embedder }, { user, search, signal })

  /** Adds one file: a document, or one for each of its lines. */
  async ingest(place: CollectionUse, file: NewFile): Promise<IngestAnswer> {
    const all: Ingested[] = []
    for await (const one of this.ingestEach(place, file)) all.push(one)
    const items = await Promise.all(all.slice(0, MAX_SHOWN).map(({ id }) => this.records.document(place.user, id)))
    const count = (became: Ingested["became"]) => all.filter((each) => each.became === became).length
    return {
      ...{ added: count("added"), replaced: count("replaced") },
      ...{ unchanged: count("unchanged"), failed: count("failed") },
      items: items.filter((item) => item !== undefined),
    }
  }

  async *ingestEach(place: CollectionUse, file: NewFile): AsyncGenerator<Ingested> {
    const { name, bytes } = file
    if (bytes.byteLength > MAX_FILE_BYTES)
      throw failure("document_too_large", { what: name.slice(0, 200), most: `${MAX_FILE_BYTES / 1024 / 1024} MB` })
    const kind = kindOf(name, bytes)
    if (kind === "arxiv") yield* this.ingestLines(place, linesOf(Buffer.from(bytes).toString()), name)
    else yield await this.#ingestFile(place, file, kind)
  }

  /** Adds papers, one per line. A malformed line does not stop the others. */
  async *ingestLines(
    place: CollectionUse,
    lines: AsyncIterable<string> | Iterable<string>,
    name: string,
  ): AsyncGenerator<Ingested> {
    let batch: Line[] = []
    let [number, passed] = [0, 0]
    const bad: Ingested[] = []
    let good = 0
    for await (const line of lines) {
      number++
      place.signal.throwIfAborted()
      // A file may contain millions of empty lines, which arrive without a pause.
      passed += line.length + 1
      if (passed > PASSED_AT_ONCE) {
        passed = 0
        await nextTurn()
      }
      if (line.trim() === "") continue
      batch.push({ text: line, where: `${name}, line ${number}` })
      if (batch.length < LINES_AT_ONCE) continue
      const became = await this.#ingestPapers(place, batch)
      batch = []
      yield* became
      for (const each of became) {
        if (each.became !== "failed") good++
        else bad.push(each)
      }
      // A file of another format would fill the collection with an error for each line.
      if (bad.length < MAX_BAD || bad.length < good) continue
      const reason = `these lines are not papers (${bad[0]?.reason}); the lines after line ${number} were not read`
      const hash = await hashOf(Buffer.from(reason))
      yield await this.#failed(place, { source: mendText(name), kind: "arxiv", hash }, reason)
      return
    }
    yield* await this.#ingestPapers(place, batch)
  }

  async #ingestPapers(place: CollectionUse, lines: readonly Line[]): Promise<Ingested[]> {
    const papers = await this.#papersOf(place, lines)
    const storing = papers.map((paper, index) => this.#ingestPaper(place, paper, lines[index]?.where ?? ""))
    try {
      return await Promise.all(storing)
    } finally {
      await Promise.allSettled(storing) // so that no write is pending when this ends
    }
  }

  /** Reads lines together. If that fails, one by one, because a single line may be the cause. */
  async #papersOf({ user: person, signal }: CollectionUse, lines: readonly Line[]): Promise<ReadParts<PaperAbout>[]> {
    if (lines.length === 0) return []
    const read = (some: readonly Line[]) =>
      this.#reader.papers(
        some.map(({ text }) => text),
        { person, signal },
      )
    try {
      const papers = await read(lines)
      if (papers.length === lines.length) return papers
    } catch (error) {
      if (!toRefused(error)) throw error
    }
    const papers: ReadParts<PaperAbout>[] = []
    for (const line of lines) {
      const hash = await hashOf(Buffer.from(line.text))
      const failedWith = (problem: string) => ({ about: { hash, problem }, text: "", passages: [] })
      const [paper] = await read([line]).catch((error: unknown) => {
        const refused = toRefused(error)
        if (!refused) throw error
        return [failedWith(unreadableReason(refused))]
      })
      papers.push(paper ?? failedWith("it is not one line"))
    }
    return papers
  }

  #ingestPaper(
    place: CollectionUse,
    { about, text, passages }: ReadParts<PaperAbout>,
    where: string,
  ): Promise<Ingested> {
    const of = { source: about.source ?? where, kind: "arxiv", hash: about.hash } as const
    if ("problem" in about) return this.#failed(place, of, about.problem)
    return this.#keep(place, { ...about, text, passages, kind: "arxiv" })
  }

  async #ingestFile({ user, collection, signal }: CollectionUse, file: NewFile, kind: FileKind): Promise<Ingested> {
    const { name, bytes, title, authors, date, formerly } = file
    const source = mendText(name)
    const isPlain = title === undefined && authors === undefined && date === undefined
    const hash = await hashOf(bytes, isPlain ? "" : JSON.stringify([title, authors, date]))
    // Checked before it is read, because a PDF may take a minute.
    const known = await this.records.isKept(user, collection, { source, hash })
    if (known) return { source, became: "unchanged", id: known }
    const place = { user, collection }
    let read: ReadParts<About>
    try {
      read = await this.#reader.file(kind, bytes, { person: user, signal })
    } catch (error) {
      const refused = toRefused(error)
      if (!refused) throw error
      return this.#failed(place, { source, kind, hash }, unreadableReason(refused))
    }
    const { about, text, passages } = read
    return this.#keep(place, {
      ...{ source, kind, hash, text, passages },
      ...(formerly === undefined ? {} : { formerly: mendText(formerly) }),
      title: title ?? about.title ?? (source.split("/").at(-1) as string),
      authors: authors ?? about.authors ?? [],
      date: date ?? about.date ?? null,
      ...(about.remark === undefined ? {} : { remark: about.remark }),
    })
  }

  async #keep({ user, collection }: Omit<CollectionUse, "signal">, document: ReadDocument): Promise<Ingested> {
    const { id, kept } = await this.records.keep(user, collection, document)
    const { source, remark } = document
    return { source, became: kept, id, ...(remark === undefined ? {} : { reason: remark }) }
  }

  async #failed(
    { user, collection }: Omit<CollectionUse, "signal">,
    of: Pick<ReadDocument, "source" | "kind" | "hash">,
    reason: string,
  ): Promise<Ingested> {
    const id = await this.records.fail(user, collection, { ...of, title: of.source, reason })
    return { source: of.source, became: "failed", id, reason }
  }
}

/** A line of a file, and its name in case it is not a paper. */
interface Line {
  readonly text: string
  readonly where: string
}

/** Bytes hashed in one turn of the event loop, so that other requests are not held up. */
const HASHED_AT_ONCE = 4 * 1024 * 1024

async function hashOf(content: Uint8Array, more = ""): Promise<string> {
  const hash = createHash("sha256")
  for (let at = 0; at < content.length; at += HASHED_AT_ONCE) {
    if (at > 0) await nextTurn()
    hash.update(content.subarray(at, at + HASHED_AT_ONCE))
  }
  return hash.update(more).digest("hex")
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline
    yield text.slice(at, end)
    at = end + 1
  }
}
