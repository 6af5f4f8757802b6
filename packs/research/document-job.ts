import { failure, hasCode } from "../../core/protocol/errors.ts"
import type { DocumentKind } from "../../core/protocol/library.ts"
import type { NewPassage } from "../../core/engine/library.ts"

/** What a child process is asked for; what it is to read comes through its input, so many bytes of it. */
export type DocumentJob =
  | { readonly type: "file"; readonly kind: FileKind }
  /** Lines of arXiv's metadata: a document each. */
  | { readonly type: "papers" }
  | { readonly type: "answer"; readonly of: AnswerKind }

/** A file that is one document, by how it is read. */
export type FileKind = Exclude<DocumentKind, "arxiv"> | "rtf"

/** Whose answer is read. */
export type AnswerKind = "arxiv" | "duckduckgo" | "brave" | "tavily" | "searxng"

export interface AskedJob {
  readonly job: DocumentJob
  readonly bytes: number
}

/** What a document says of itself. What it does not say is left out. */
export interface About {
  readonly title?: string
  readonly authors?: readonly string[]
  readonly date?: string
  readonly pages?: number
  /** What could not be read of it, where that is a part only, or what is a guess. */
  readonly remark?: string
}

/** A line that is a paper, or why it is none; where that is known, by the paper's own name. */
export type PaperAbout =
  | {
      readonly hash: string
      readonly source: string
      readonly title: string
      readonly authors: readonly string[]
      readonly date: string | null
    }
  | { readonly hash: string; readonly source?: string; readonly problem: string }

/** Some of a document. Without headings a passage stands under those of the one before it. */
export interface DocumentPart<Begun> {
  /** With the first part of each. */
  readonly begins?: Begun
  readonly text: string
  readonly passages: readonly (Omit<NewPassage, "headings"> & { readonly headings?: readonly string[] })[]
}

/** The asking process sends `MORE` when it has stored the parts before. */
export const MORE = "more"

export type DocumentAnswer =
  | { readonly type: "parts"; readonly parts: readonly DocumentPart<About | PaperAbout>[]; readonly last: boolean }
  | { readonly type: "found"; readonly found: readonly unknown[] }
  | { readonly type: "refused"; readonly refused: UnreadableDocument }

/** What is wrong with a document itself, in a form that can be sent. */
export type UnreadableDocument =
  | { readonly code: "document_unreadable"; readonly details: { readonly problem: string; readonly pages?: number } }
  | { readonly code: "document_too_large"; readonly details: { readonly what: string; readonly most: string } }

export const toDocumentFailure = ({ code, details }: UnreadableDocument) =>
  code === "document_too_large" ? failure(code, details) : failure("document_unreadable", details)

/** Undefined for an error of another kind: that is ours, and ends the process. */
export function toRefused(error: unknown): UnreadableDocument | undefined {
  for (const code of ["document_unreadable", "document_too_large"] as const)
    if (hasCode(error, code)) return { code, details: (error as unknown as { details: never }).details }
  return undefined
}

/** Why something could not be read, as it is told in a list of documents. */
export const unreadableReason = (refused: UnreadableDocument): string =>
  refused.code === "document_unreadable" ? refused.details.problem : toDocumentFailure(refused).message
