import { createHash } from "node:crypto"
import type { NewPassage } from "../../core/pack.ts"
import { failure } from "../../core/program.ts"
import { cutPassages } from "./passages/cut-passages.ts"
import {
  type About,
  type AnswerKind,
  type DocumentAnswer,
  type DocumentJob,
  type PaperAbout,
  type DocumentPart,
  unreadableReason,
  toRefused,
} from "./document-job.ts"
import type { readArxivLine } from "./read-arxiv.ts"
import { readDocumentFile } from "./read-file.ts"
import type { ReadText } from "./passages/read-plain.ts"

const MAX_CHARACTERS = 10_000_000
/** The characters of one portion, which the parent parses and stores in one turn. */
const PORTION_CHARACTERS = 64 * 1024
const PORTION_PASSAGES = 256

/** Runs in its own process, which its parent ends if it takes too long. Yields small portions. */
export async function* runDocumentJob(job: DocumentJob, bytes: Uint8Array): AsyncGenerator<DocumentAnswer> {
  try {
    if (job.type === "answer") yield { type: "found", found: await found(job.of, bytes) }
    else yield* inPortions(job.type === "papers" ? await papersIn(bytes) : partsOf(await readDocument(job.kind, bytes)))
  } catch (error) {
    const refused = toRefused(error)
    if (!refused) throw error
    yield { type: "refused", refused }
  }
}

// Imported on first use, because the start of the process must be fast.
const found = async (of: AnswerKind, bytes: Uint8Array) =>
  (await import("./read-answer.ts")).readAnswer(of, Buffer.from(bytes).toString())

async function papersIn(bytes: Uint8Array): Promise<Iterable<DocumentPart<PaperAbout>>> {
  const { readArxivLine } = await import("./read-arxiv.ts")
  return toParts(Buffer.from(bytes).toString().split("\n"), readArxivLine)
}

async function readDocument(kind: Parameters<typeof readDocumentFile>[0], bytes: Uint8Array) {
  const { text, sections, ...about } = await readDocumentFile(kind, bytes)
  return { begins: about as About, ...cut({ text, sections }) }
}

/** Cuts a text into passages. Throws `document_too_large`, or `document_unreadable` if there is no text. */
function cut({ text, sections }: Pick<ReadText, "text" | "sections">): Cut {
  if (text.length > MAX_CHARACTERS)
    throw failure("document_too_large", { what: "Its text", most: `${MAX_CHARACTERS} characters` })
  const passages = cutPassages(text, sections)
  if (passages.length === 0) throw failure("document_unreadable", { problem: "there is no text in it" })
  return { text, passages }
}

interface Cut {
  readonly text: string
  readonly passages: readonly NewPassage[]
}

/** Reads each line separately, so that a malformed one does not stop the others. */
function* toParts(lines: readonly string[], read: typeof readArxivLine): Generator<DocumentPart<PaperAbout>> {
  for (const line of lines) {
    const hash = createHash("sha256").update(line).digest("hex")
    const paper = read(line)
    if ("problem" in paper) {
      yield { begins: { hash, problem: paper.problem }, text: "", passages: [] }
      continue
    }
    const { text, ...about } = paper
    try {
      yield* partsOf({
        begins: { hash, ...about },
        ...cut({ text, sections: [{ headings: [], start: 0, end: text.length }] }),
      })
    } catch (error) {
      const refused = toRefused(error)
      if (!refused) throw error
      yield { begins: { hash, source: about.source, problem: unreadableReason(refused) }, text: "", passages: [] }
    }
  }
}

function* partsOf<Begun>({ begins, text, passages }: Cut & { readonly begins: Begun }): Generator<DocumentPart<Begun>> {
  let begun: { begins?: Begun } = { begins }
  let [at, next] = [0, 0]
  let headings: readonly string[] | undefined
  while (at < text.length || next < passages.length) {
    const part = text.slice(at, at + PORTION_CHARACTERS)
    at += part.length
    const some: DocumentPart<Begun>["passages"][number][] = []
    let left = PORTION_CHARACTERS
    while (next < passages.length && some.length < PORTION_PASSAGES && left > 0) {
      const { start, end, headings: own } = passages[next++]!
      const same = own === headings
      headings = own
      left -= same ? 0 : own.reduce((sum, each) => sum + each.length, 0)
      some.push({ start, end, ...(same ? {} : { headings: own }) })
    }
    yield { ...begun, text: part, passages: some }
    begun = {}
  }
}

/** Combines small parts into portions. */
function* inPortions(all: Iterable<DocumentPart<About | PaperAbout>>): Generator<DocumentAnswer> {
  let parts: DocumentPart<About | PaperAbout>[] = []
  let [characters, passages] = [0, 0]
  for (const part of all) {
    if (parts.length > 0 && (characters > PORTION_CHARACTERS / 2 || passages > PORTION_PASSAGES / 2)) {
      yield { type: "parts", parts, last: false }
      parts = []
      characters = passages = 0
    }
    parts.push(part)
    characters += part.text.length
    passages += part.passages.length
  }
  yield { type: "parts", parts, last: true }
}
