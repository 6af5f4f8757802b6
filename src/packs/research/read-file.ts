import { failure } from "../../protocol/errors.ts"
import type { DocumentKind } from "../../protocol/library.ts"
import type { PdfReader } from "./pdf-reader.ts"
import { readMarkdown } from "./read-markdown.ts"
import { decodeText, readPlain, type ReadText } from "./read-plain.ts"
import { own } from "../../protocol/own.ts"

const KINDS: Readonly<Record<string, DocumentKind>> = {
  ...{ md: "markdown", markdown: "markdown", mdx: "markdown" },
  ...{ txt: "text", text: "text", rst: "text", tex: "text", log: "text" },
  ...{ html: "html", htm: "html", xhtml: "html" },
  ...{ pdf: "pdf", jsonl: "arxiv", ndjson: "arxiv" },
}

/** What a file is by its name; undefined where that says nothing. */
export function kindOfName(name: string): DocumentKind | undefined {
  const ending = /\.([A-Za-z]+)$/.exec(name)?.[1]?.toLowerCase()
  return own(KINDS, ending ?? "")
}

/** The same with a look into it: what begins like a PDF is one, whatever it is called. */
export function kindOf(name: string, bytes: Uint8Array): DocumentKind {
  const head = Buffer.from(bytes.subarray(0, 5)).toString("latin1")
  return head === "%PDF-" ? "pdf" : (kindOfName(name) ?? "text")
}

/** The text of a file of any kind but lines of papers. Throws `document_unreadable`. */
export async function readFile(kind: DocumentKind, bytes: Uint8Array, { pdf, signal }: Reading): Promise<ReadText> {
  if (kind === "pdf") return pdf.read(bytes, signal)
  const text = decodeText(bytes)
  if (text === undefined) throw failure("document_unreadable", { problem: "it is no text" })
  // Loaded when used: most servers never see a page.
  if (kind === "html") return (await import("./read-html.ts")).readHtml(text)
  return kind === "markdown" ? readMarkdown(text) : readPlain(text)
}

interface Reading {
  readonly pdf: PdfReader
  readonly signal: AbortSignal
}
