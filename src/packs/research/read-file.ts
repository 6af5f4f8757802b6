import { failure } from "../../protocol/errors.ts"
import type { FileKind } from "./document-job.ts"
import { isAuthor } from "./plausible-about.ts"
import { readMarkdown } from "./read-markdown.ts"
import { decodeText, readPlain, type ReadText } from "./read-plain.ts"

/** The text of a file of any kind but lines of papers. Throws `document_unreadable`. */
export async function readFile(kind: FileKind, bytes: Uint8Array): Promise<ReadText> {
  const { authors = [], ...read } = await readAs(kind, bytes)
  const known = authors.filter(isAuthor)
  return { ...read, ...(known.length > 0 ? { authors: known } : {}) }
}

async function readAs(kind: FileKind, bytes: Uint8Array): Promise<ReadText> {
  // Loaded when used, each: the first note shall not wait for what reads PDFs.
  if (kind === "pdf") return (await import("./pdf/read-pdf.ts")).readPdf(bytes)
  if (kind === "rtf") return (await import("./rtf/read-rtf.ts")).readRtf(bytes)
  const text = decodeText(bytes, kind === "html" ? charsetOf(bytes) : undefined)
  if (text === undefined) throw failure("document_unreadable", { problem: "it is no text" })
  if (kind === "html") return (await import("./html/read-html.ts")).readHtml(text)
  return kind === "markdown" ? readMarkdown(text) : readPlain(text)
}

/** What a page says of its own encoding, as its first bytes have it. */
function charsetOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 2048)).toString("latin1")
  return /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w-]{1,40})/i.exec(head)?.[1]
}
