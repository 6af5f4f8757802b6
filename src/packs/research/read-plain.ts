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

const UTF8 = new TextDecoder("utf-8", { fatal: true })
const WESTERN = new TextDecoder("windows-1252")
/** A file with more of these among its first bytes is no text. */
const MOST_CONTROLS = 0.05

/** Bytes as text, whatever wrote them; undefined where they are none. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return tidy(new TextDecoder("utf-16le").decode(bytes))
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return tidy(new TextDecoder("utf-16be").decode(bytes))
  const head = bytes.subarray(0, 4096)
  const controls = head.reduce((sum, byte) => sum + Number(byte < 9 || (byte > 13 && byte < 32)), 0)
  if (controls > head.length * MOST_CONTROLS) return undefined
  try {
    return tidy(UTF8.decode(bytes))
  } catch {
    return tidy(WESTERN.decode(bytes))
  }
}

/** One kind of line ends, and nothing that cannot be stored. */
const tidy = (text: string) => mendText(text.replaceAll(/\r\n?/g, "\n"))

const MOST_TITLE = 120

/** A plain text is one stretch; its first line is its title where it looks like one. */
export function readPlain(text: string): ReadText {
  const first = /^\s*([^\n]+)/.exec(text)?.[1]?.trim() ?? ""
  const title = first !== "" && first.length <= MOST_TITLE ? { title: first } : {}
  return { text, sections: [{ headings: [], start: 0, end: text.length }], ...title }
}
