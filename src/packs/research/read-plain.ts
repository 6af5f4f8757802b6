import { encodings, findEncoding } from "../../protocol/encoding/text-encoding.ts"
import { mendText } from "../../protocol/text.ts"
import type { Section } from "./cut-passages.ts"

/** What was read from a file: its text and where its headings stand. What the file does not say is left out. */
export interface ReadText {
  readonly text: string
  readonly sections: readonly Section[]
  readonly title?: string
  readonly authors?: readonly string[]
  readonly date?: string
  /** What could not be read of it, where that is a part only. */
  readonly remark?: string
}

/** A file with more of these among its first bytes is no text. */
const MOST_CONTROLS = 0.05

/** Bytes as text, in the encoding that they name or that is found; undefined where they are none. */
export function decodeText(bytes: Uint8Array, named?: string): string | undefined {
  const found = findEncoding(bytes)
  const head = bytes.subarray(0, 4096)
  const controls = head.reduce((sum, byte) => sum + Number(byte < 9 || (byte > 13 && byte < 32)), 0)
  const isUtf16 = found.type === "text" && found.encoding.startsWith("utf-16")
  if (!isUtf16 && controls > head.length * MOST_CONTROLS) return undefined
  if (found.type === "text" && found.sure) return decodeAs(found.encoding, bytes)
  const encoding = encodings.find((each) => each === named?.toLowerCase())
  // What cannot be told is read as what most such files are: all its plain letters are right.
  return decodeAs(encoding ?? (found.type === "text" ? found.encoding : "windows-1252"), bytes)
}

const decodeAs = (encoding: string, bytes: Uint8Array) => tidy(new TextDecoder(encoding).decode(bytes))

/** One kind of line ends, and nothing that cannot be stored. */
const tidy = (text: string) => mendText(text.replaceAll(/\r\n?/g, "\n"))

const MOST_TITLE = 120

/** A plain text is one stretch; its first line is its title where it looks like one. */
export function readPlain(text: string): ReadText {
  const first = /^\s*([^\n]+)/.exec(text)?.[1]?.trim() ?? ""
  const title = first !== "" && first.length <= MOST_TITLE ? { title: first } : {}
  return { text, sections: [{ headings: [], start: 0, end: text.length }], ...title }
}
