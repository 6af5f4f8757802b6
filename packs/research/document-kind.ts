import { own } from "../../core/pack.ts"
import type { FileKind } from "./document-job.ts"

/** The format of a file: one document, or one on each line (arXiv's metadata). */
type GivenKind = FileKind | "arxiv"

const KINDS: Readonly<Record<string, GivenKind>> = {
  ...{ md: "markdown", markdown: "markdown", mdx: "markdown" },
  ...{ txt: "text", text: "text", rst: "text", tex: "text", log: "text" },
  ...{ html: "html", htm: "html", xhtml: "html" },
  ...{ pdf: "pdf", jsonl: "arxiv", ndjson: "arxiv" },
}

/** Returns the kind of a file by its name; undefined if the extension is unknown. */
export function kindOfName(name: string): GivenKind | undefined {
  const ending = /\.([A-Za-z]+)$/.exec(name)?.[1]?.toLowerCase()
  return own(KINDS, ending ?? "")
}

/** The same with its contents: a file that starts like a PDF is one, with any name. */
export function kindOf(name: string, bytes: Uint8Array): GivenKind {
  const isPdf = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-"
  return isPdf ? "pdf" : (kindOfName(name) ?? "text")
}
