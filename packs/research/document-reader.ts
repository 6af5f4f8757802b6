import {
  type Child,
  ChildDied,
  failure,
  FairQueue,
  type Log,
  type NewPassage,
  type OtherProgram,
} from "../../core/pack.ts"
import { DocumentChildren } from "./document-children.ts"
import {
  type About,
  type AnswerKind,
  type DocumentAnswer,
  type DocumentJob,
  type FileKind,
  MORE,
  type PaperAbout,
  type DocumentPart,
  toDocumentFailure,
} from "./document-job.ts"

export interface ReaderLimits {
  readonly seconds: number
  readonly heapMegabytes: number
  /** Limit for the text and headings of an answer. */
  readonly answerCharacters: number
}
const LIMITS: ReaderLimits = { seconds: 60, heapMegabytes: 512, answerCharacters: 32 * 1024 * 1024 }
const QUEUE = {
  atOnce: 3,
  perPerson: 2,
  waiting: 50,
  tooMany: (most: number) => failure("too_many", { what: "documents of yours", most }),
}
const BROKEN = "reading it took too much memory, or broke the reader"

export interface ReaderOptions extends Partial<ReaderLimits> {
  readonly log?: Log | undefined
  readonly other?: OtherProgram
}

/** The user who waits, and the signal. */
export interface Reading {
  readonly person: string
  readonly signal: AbortSignal
}

/** A document's text and passages. */
export interface ReadParts<Begun> {
  readonly about: Begun
  readonly text: string
  readonly passages: readonly NewPassage[]
}

/**
 * Reads untrusted documents in child processes, which are ended when they exceed their time, memory or answer size, so
 * that a malicious document affects no other. Throws `document_unreadable` and `document_too_large`.
 */
export class DocumentReader {
  readonly #queue = new FairQueue(QUEUE)
  readonly #limits: ReaderLimits
  readonly #children: DocumentChildren

  constructor({ log, other, ...given }: ReaderOptions = {}) {
    this.#limits = { ...LIMITS, ...given }
    this.#children = new DocumentChildren(this.#limits.heapMegabytes, { log, other })
  }

  async file(kind: FileKind, bytes: Uint8Array, reading: Reading): Promise<ReadParts<About>> {
    const [document] = await this.#documents<About>({ type: "file", kind }, bytes, reading)
    if (!document) throw unreadable(BROKEN)
    return document
  }

  /** Reads one paper per line, in order. */
  papers(lines: readonly string[], reading: Reading): Promise<ReadParts<PaperAbout>[]> {
    return this.#documents<PaperAbout>({ type: "papers" }, Buffer.from(lines.join("\n")), reading)
  }

  /** Reads the results in a response from the web. */
  answer(of: AnswerKind, text: string, reading: Reading): Promise<readonly unknown[]> {
    return this.#run({ type: "answer", of }, Buffer.from(text), reading, async (child, over) => {
      const answer = await hear(child, over)
      if (answer.type === "parts") throw unreadable(BROKEN)
      return answer.type === "found" ? { value: answer.found } : answer
    })
  }

  close(): Promise<void> {
    return this.#children.close()
  }

  #documents<Begun>(job: DocumentJob, bytes: Uint8Array, reading: Reading): Promise<ReadParts<Begun>[]> {
    return this.#run(job, bytes, reading, async (child, over) => {
      const collected = new Collected<Begun>(this.#limits.answerCharacters)
      for (;;) {
        const answer = await hear(child, over)
        if (answer.type === "refused") return answer
        if (answer.type === "found") throw unreadable(BROKEN)
        for (const part of answer.parts) collected.add(part as DocumentPart<Begun>)
        if (answer.last) return { value: collected.documents() }
        child.send(MORE)
      }
    })
  }

  #run<T>(
    job: DocumentJob,
    bytes: Uint8Array,
    { person, signal }: Reading,
    work: (child: Child, over: AbortSignal) => Promise<Outcome<T>>,
  ): Promise<T> {
    return this.#queue.run(person, signal, async () => {
      const { seconds } = this.#limits
      const timeUp = AbortSignal.timeout(seconds * 1000)
      const over = AbortSignal.any([signal, timeUp])
      // A process that read a PDF is not reused: it is large, and the PDF may have affected it.
      const once = job.type === "file" && job.kind === "pdf"
      try {
        const outcome = await this.#children.run({ once, signal: over }, (child) => {
          child.send({ job, bytes: bytes.length })
          child.process.stdin?.write(bytes)
          return work(child, over)
        })
        if ("value" in outcome) return outcome.value
        throw toDocumentFailure(outcome.refused)
      } catch (error) {
        signal.throwIfAborted()
        if (timeUp.aborted) throw unreadable(`it took too long to read, longer than ${seconds} s`, MAY_PASS)
        throw error instanceof ChildDied ? unreadable(BROKEN, MAY_PASS) : error
      }
    })
  }
}

/** The contents, or the problem of the document; the process is reusable in both cases. */
type Outcome<T> = { readonly value: T } | Extract<DocumentAnswer, { type: "refused" }>

const hear = async (child: Child, over: AbortSignal) => (await child.hear(over)) as DocumentAnswer

/** Collects documents from their parts. */
class Collected<Begun> {
  readonly #all: { readonly about: Begun; readonly texts: string[]; readonly passages: NewPassage[] }[] = []
  #left: number
  #headings: readonly string[] = []

  constructor(most: number) {
    this.#left = most
  }

  add({ begins, text, passages }: DocumentPart<Begun>): void {
    if (begins !== undefined) this.#all.push({ about: begins, texts: [], passages: [] })
    const document = this.#all.at(-1)
    if (!document) throw unreadable(BROKEN)
    this.#count(text.length)
    document.texts.push(text)
    for (const { headings = this.#headings, start, end } of passages) {
      if (headings !== this.#headings) this.#count(headings.reduce((sum, each) => sum + each.length, 0))
      this.#headings = headings
      document.passages.push({ headings, start, end })
    }
  }

  documents(): ReadParts<Begun>[] {
    return this.#all.map(({ about, texts, passages }) => ({ about, text: texts.join(""), passages }))
  }

  #count(characters: number): void {
    this.#left -= characters
    if (this.#left < 0) throw unreadable("it contains more text than the limit")
  }
}

/** An error of the reader, not of the document: it may succeed later, on a machine that is less busy. */
const MAY_PASS = { canRetry: true } as const

const unreadable = (problem: string, more: Partial<typeof MAY_PASS> = {}) =>
  failure("document_unreadable", { problem, ...more })
