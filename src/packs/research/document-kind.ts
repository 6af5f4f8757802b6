import type { DocumentKind } from "../../protocol/library.ts"
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
