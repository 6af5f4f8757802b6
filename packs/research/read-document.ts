import { z } from "zod"
import {
  answer,
  defineTool,
  type DocumentId,
  type DocumentView,
  failed,
  isId,
  type Library,
  type Tool,
} from "../../core/pack.ts"
import { bookOf, textHash, privateTaintOf, toSources } from "./sources.ts"

const WINDOW = 12_000

const Input = z.strictObject({
  document_id: z.string().trim().max(100).describe("The id of a document (doc_…), as sources name it"),
  start: z.number().int().min(0).nullish().describe("The position to start at, in characters; 0 is the beginning"),
})

/** Reads a part of a document's text. */
export function readDocument(library: Library): Tool {
  return defineTool({
    name: "read_document",
    description: "Reads the text of a document of the person's collections, some pages at a time.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    taint: "untrusted",
    async run({ document_id, start }, { user }) {
      const id = document_id as DocumentId
      const document = isId("doc", id) ? await library.document(user, id) : undefined
      const from = start ?? 0
      const window = document && (await library.read(user, id, { start: from, length: WINDOW }))
      if (!document || !window) return failed(noDocument(document_id))
      const { characters, text } = window
      if (from >= characters && characters > 0)
        return failed(
          `The document ends at ${characters}. Start before that: read_document {"document_id": "${id}", "start": 0}.`,
        )
      const end = from + text.length
      const next =
        end < characters
          ? `\n\n[Characters ${from} to ${end} of ${characters}. Continue with read_document {"document_id": "${id}", "start": ${end}}.]`
          : ""
      const source = windowSource(document, { text, start: from })
      return answer(`[${source.id}] ${describe(document)}\n\n${text}${next}`, {
        data: toSources([source]),
        ...privateTaintOf([document]),
      })
    },
  })
}

/** A part is cited like a passage. Its id depends on its text, so a later edition has another one. */
function windowSource(document: DocumentView, { text, start }: { text: string; start: number }) {
  const { id, title, collectionId } = document
  const span = { start, end: start + text.length }
  const hash = textHash(text)
  return {
    id: `${id}_${start}_${hash.slice(0, 8)}`,
    title,
    ...bookOf(document),
    passage: text,
    hash,
    span,
    documentId: id,
    collection: collectionId,
  }
}

export function describe({ title, authors, date, source }: DocumentView): string {
  return [title, authors.slice(0, 10).join(", "), date, source].filter((part) => part).join(" · ")
}

export const noDocument = (id: string) =>
  `There is no document "${id.slice(0, 100)}". Find one with retrieve_chunks: its sources name documents as doc_….`
