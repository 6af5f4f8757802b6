import { charsetOfMarkup, failure } from "../../core/program.ts"
import type { FileKind } from "./document-job.ts"
import { isAuthor } from "./passages/plausible-about.ts"
import { readMarkdown } from "./read-markdown.ts"
import { readPlain, type ReadText, toPlainText } from "./passages/read-plain.ts"

/** The text of a file of any kind except lines of papers. Throws `document_unreadable`. */
export async function readDocumentFile(kind: FileKind, bytes: Uint8Array): Promise<ReadText> {
  const { authors = [], ...read } = await readAs(kind, bytes)
  const known = authors.filter(isAuthor)
  return { ...read, ...(known.length > 0 ? { authors: known } : {}) }
}

async function readAs(kind: FileKind, bytes: Uint8Array): Promise<ReadText> {
  // Each reader is imported on first use, so that a note does not wait for the PDF library.
  if (kind === "pdf") return (await import("./pdf/read-pdf.ts")).readPdf(bytes)
  if (Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "{\\rtf")
    throw failure("document_unreadable", { problem: "RTF is not supported: save it as PDF, HTML or text" })
  const { text, ...remarks } = toPlainText(bytes, kind === "html" ? charsetOfMarkup(bytes) : undefined)
  if (kind === "html") return { ...(await import("./html/read-html.ts")).readHtml(text), ...remarks }
  return { ...(kind === "markdown" ? readMarkdown(text) : readPlain(text)), ...remarks }
}
