import { binaryKind, type DecodedText, decodeText, failure, mendText } from "../../../core/program.ts"
import type { Section } from "./cut-passages.ts"

/** The contents of a file: its text and the positions of its headings. Missing fields are left out. */
export interface ReadText {
  readonly text: string
  readonly sections: readonly Section[]
  readonly title?: string
  readonly authors?: readonly string[]
  readonly date?: string
  /** The number of pages, if the format has pages. */
  readonly pages?: number
  /** A note about parts that could not be read, or about a guess. */
  readonly remark?: string
}

/** A file with a larger share of control characters at its start is not text. */
const MAX_CONTROLS = 0.05

/**
 * Decodes bytes with the encoding that they name or that is detected, with a remark if it is a guess. Throws
 * `document_unreadable` if it is unknown: text in a wrong encoding would be stored and never found.
 */
export function toPlainText(bytes: Uint8Array, inside?: string): Pick<ReadText, "text" | "remark"> {
  const found = decodeText(bytes, { inside })
  const isUtf16 = found.type === "text" && found.encoding.startsWith("utf-16")
  const kind = binaryKind(bytes)
  if (!isUtf16 && hasControls(bytes)) throw unreadable(kind ?? "it is not a text")
  if (found.type === "unknown") throw unreadable(kind ?? `${found.because}; save it as UTF-8`)
  const remark = doubtOf(found)
  return { text: tidy(found.text), ...(remark === undefined ? {} : { remark }) }
}

function hasControls(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 4096)
  const controls = head.reduce((sum, byte) => sum + Number(byte < 9 || (byte > 13 && byte < 32)), 0)
  return controls > head.length * MAX_CONTROLS
}

function doubtOf({ encoding, sure, broken }: Extract<DecodedText, { type: "text" }>): string | undefined {
  if (broken) return `some bytes are not ${encoding.toUpperCase()}; they are shown as \uFFFD`
  if (sure) return undefined
  const not = encoding.startsWith("utf-16") ? "" : " is not UTF-8 and"
  return `it${not} was read as ${encoding}; check that its text is correct`
}

const unreadable = (problem: string) => failure("document_unreadable", { problem })

/** Normalizes line ends and removes characters that cannot be stored. */
const tidy = (text: string) => mendText(text.replaceAll(/\r\n?/g, "\n"))

const MAX_TITLE = 120

/** Plain text is one section. Its first line is its title if it looks like one. */
export function readPlain(text: string): ReadText {
  const first = /^\s*([^\n]+)/.exec(text)?.[1]?.trim() ?? ""
  const title = first !== "" && first.length <= MAX_TITLE ? { title: first } : {}
  return { text, sections: [{ headings: [], start: 0, end: text.length }], ...title }
}
