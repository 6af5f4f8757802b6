import type { DocumentKind, NewPassage } from "../../core/pack.ts"
import { failure, hasCode } from "../../core/program.ts"

/** A job of the child process. The bytes to read follow on its input. */
export type DocumentJob =
  | { readonly type: "file"; readonly kind: FileKind }
  /** Lines of arXiv's metadata, a document each. */
  | { readonly type: "papers" }
  | { readonly type: "answer"; readonly of: AnswerKind }

/** The format of a file with one document. */
export type FileKind = Exclude<DocumentKind, "arxiv">

/** The service that sent the response. */
export type AnswerKind = "arxiv" | "duckduckgo" | "brave" | "tavily" | "searxng"

export interface JobRequest {
  readonly job: DocumentJob
  readonly bytes: number
}

/** The metadata of a document. Missing fields are left out. */
export interface About {
  readonly title?: string
  readonly authors?: readonly string[]
  readonly date?: string
  readonly pages?: number
  /** A note about parts that could not be read, or about a guess. */
  readonly remark?: string
}

/** A line with a paper, or why it is not one, with the paper's name if known. */
export type PaperAbout =
  | {
      readonly hash: string
      readonly source: string
      readonly title: string
      readonly authors: readonly string[]
      readonly date: string | null
    }
  | { readonly hash: string; readonly source?: string; readonly problem: string }

/** A part of a document. A passage without headings belongs to the previous passage's section. */
export interface DocumentPart<Begun> {
  /** Set for the first part of each document. */
  readonly begins?: Begun
  readonly text: string
  readonly passages: readonly (Omit<NewPassage, "headings"> & { readonly headings?: readonly string[] })[]
}

/** The parent sends `MORE` after it has stored the previous parts. */
export const MORE = "more"

export type DocumentAnswer =
  | { readonly type: "parts"; readonly parts: readonly DocumentPart<About | PaperAbout>[]; readonly last: boolean }
  | { readonly type: "found"; readonly found: readonly unknown[] }
  | { readonly type: "refused"; readonly refused: UnreadableDocument }

/** The reason why a document is unreadable, as plain data. */
export type UnreadableDocument =
  | { readonly code: "document_unreadable"; readonly details: { readonly problem: string; readonly pages?: number } }
  | { readonly code: "document_too_large"; readonly details: { readonly what: string; readonly most: string } }

export const toDocumentFailure = ({ code, details }: UnreadableDocument) =>
  code === "document_too_large" ? failure(code, details) : failure("document_unreadable", details)

/** Undefined for other errors: those are bugs, and end the process. */
export function toRefused(error: unknown): UnreadableDocument | undefined {
  for (const code of ["document_unreadable", "document_too_large"] as const)
    if (hasCode(error, code)) return { code, details: (error as unknown as { details: never }).details }
  return undefined
}

/** The reason why a document could not be read, for a list of documents. */
export const unreadableReason = (refused: UnreadableDocument): string =>
  refused.code === "document_unreadable" ? refused.details.problem : toDocumentFailure(refused).message
