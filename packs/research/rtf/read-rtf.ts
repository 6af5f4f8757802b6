import { failure, mendText } from "../../../core/pack.ts"
import type { RaisedTag } from "../html/raised-text.ts"
import { isPlausibleTitle } from "../passages/plausible-about.ts"
import { readPlain, type ReadText } from "../passages/read-plain.ts"
import { splitNames } from "../passages/split-names.ts"
import { CodePageText, codePageOfCharset } from "./code-pages.ts"
import { type Destination, destinationOf, ENDS, SIGNS } from "./destinations.ts"
import { RtfParagraphs } from "./rtf-paragraphs.ts"
import { type RtfSink, scanRtf } from "./scan-rtf.ts"

const MAX_DEPTH = 1000
const MAX_ABOUT = { title: 500, authors: 10_000 }
const CUT = "the file is incomplete; the text up to its end was read"
/** Outline levels of headings. */
const LEVELS = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8])
/** Control words that start or end superscript or subscript. */
const RAISED = new Map<string, RaisedTag | undefined>([
  ["super", "sup"],
  ["up", "sup"],
  ["sub", "sub"],
  ["dn", "sub"],
  ["nosupersub", undefined],
])
const CODE_PAGES = new Map([
  ["ansi", 1252],
  ["mac", 10_000],
  ["pc", 437],
  ["pca", 850],
])

/** The text of an RTF document. Throws `document_unreadable`. */
export function readRtf(bytes: Uint8Array): ReadText {
  const begins = /^(?:\u00EF\u00BB\u00BF)?\s{0,16}(?=\{\\rtf)/.exec(
    Buffer.from(bytes.subarray(0, 32)).toString("latin1"),
  )
  if (!begins) throw failure("document_unreadable", { problem: "it is not an RTF file: it does not start with {\\rtf" })
  const document = new RtfDocument()
  const whole = scanRtf(bytes, begins[0].length, document)
  return document.end(whole)
}

/** The state of a group, which ends with it. */
interface Group {
  to: Destination
  font: number
  /** The number of characters after a `\u` escape that replace it in older programs and are skipped. */
  instead: number
  hidden: boolean
  level: number | undefined
  footnote: boolean
  raised: RaisedTag | undefined
}

class RtfDocument implements RtfSink {
  readonly #paragraphs = new RtfParagraphs()
  readonly #letters = new CodePageText()
  readonly #pageOfFont = new Map<number, number>()
  readonly #around: Group[] = []
  #group: Group = {
    to: "body",
    font: -1,
    instead: 1,
    hidden: false,
    level: undefined,
    footnote: false,
    raised: undefined,
  }
  #page = 1252
  #usualFont = -1
  /** The font whose entry in the font table is being read. */
  #font = -1
  #starred = false
  #skip = 0
  readonly #about = { title: "", authors: "" }

  open(): void {
    if (this.#around.length >= MAX_DEPTH)
      throw failure("document_unreadable", { problem: `its groups are nested more than ${MAX_DEPTH} levels deep` })
    this.#skip = 0
    this.#starred = false
    this.#around.push(this.#group)
    this.#group = { ...this.#group }
  }

  close(): boolean {
    this.#skip = 0
    this.#flush()
    const ended = this.#group
    this.#group = this.#around.pop() ?? ended
    if (ended.footnote && !this.#group.footnote) this.#say("]")
    return this.#around.length > 0
  }

  text(bytes: Uint8Array): void {
    for (const byte of bytes) if (byte !== 10 && byte !== 13 && byte !== 0) this.byte(byte)
  }

  byte(byte: number): void {
    if (this.#skip > 0) this.#skip--
    else if (this.#isHeard) this.#letters.add(byte, this.#pageOfFont.get(this.#group.font) ?? this.#page)
  }

  symbol(sign: string): void {
    if (sign === "*") this.#starred = true
    else if (sign === "\\" || sign === "{" || sign === "}") this.byte(sign.charCodeAt(0))
    else this.word(sign, undefined)
  }

  word(name: string, value: number | undefined): void {
    const to = destinationOf(name, this.#starred)
    this.#starred = false
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const sign = SIGNS.get(name)
    if (to) this.#go(to)
    else if (name === "u") this.#unicode(value ?? 0)
    else if (sign !== undefined) this.#say(sign)
    else if (ENDS.has(name)) this.#endParagraph()
    else this.#set(name, value)
  }

  end(whole: boolean): ReadText {
    this.#flush()
    this.#paragraphs.end(undefined)
    const read = this.#paragraphs.finish()
    const named = mendText(this.#about.title.replaceAll(/\s+/g, " ").trim())
    const [heading] = read.sections.flatMap(({ headings }) => headings.slice(0, 1))
    const title = isPlausibleTitle(named) ? named : (heading ?? readPlain(read.text).title)
    const authors = splitNames(this.#about.authors, /;/).map(mendText)
    const remark = [...(whole ? [] : [CUT]), ...this.#unread()].join("; ")
    return {
      ...read,
      ...(title ? { title } : {}),
      ...(authors.length > 0 ? { authors } : {}),
      ...(remark ? { remark } : {}),
    }
  }

  get #isHeard(): boolean {
    const { to, hidden } = this.#group
    return !hidden && (to === "body" || to === "title" || to === "authors")
  }

  /** A destination never returns to the body; of the metadata only title and authors are read. */
  #go(to: Destination): void {
    this.#flush()
    const isAbout = to === "title" || to === "authors"
    if (isAbout ? this.#group.to === "info" : this.#group.to !== "nowhere") this.#group.to = to
  }

  #set(name: string, value: number | undefined): void {
    const group = this.#group
    const page = CODE_PAGES.get(name)
    if (page !== undefined) this.#page = page
    else if (name === "ansicpg" && value) this.#page = value
    else if (name === "deff") group.font = this.#usualFont = value ?? -1
    else if (name === "f") this.#font = group.font = value ?? -1
    else if (name === "fcharset") this.#fontHas(codePageOfCharset(value ?? 0))
    else if (name === "cpg") this.#fontHas(value)
    else if (name === "uc") group.instead = Math.max(0, value ?? 1)
    else if (name === "v" || name === "deleted") group.hidden = value !== 0
    else if (name === "outlinelevel") group.level = LEVELS.has(value ?? -1) ? value : undefined
    else if (name === "pard") group.level = undefined
    else if (name === "plain") {
      this.#raise(undefined)
      ;[group.font, group.hidden] = [this.#usualFont, false]
    } else if (RAISED.has(name)) this.#raise(RAISED.get(name), value)
    else if (name === "footnote" && !group.footnote) {
      this.#raise(undefined)
      this.#say(" [")
      group.footnote = true
    }
  }

  /** `by`: the distance, if the word has one. Zero ends the raised text. */
  #raise(tag: RaisedTag | undefined, by?: number): void {
    this.#flush()
    this.#group.raised = by === 0 ? undefined : tag
  }

  #fontHas(page: number | undefined): void {
    if (this.#group.to === "fonts" && page !== undefined) this.#pageOfFont.set(this.#font, page)
  }

  /** Values are signed UTF-16 units. Some programs write code points. */
  #unicode(value: number): void {
    const code = value < 0 ? value + 0x10000 : value
    this.#say(code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\uFFFD")
    this.#skip = this.#group.instead
  }

  #endParagraph(): void {
    if (this.#group.to !== "body" || this.#group.footnote) return this.#say(" ")
    this.#flush()
    this.#paragraphs.end(this.#group.level)
  }

  #say(text: string): void {
    this.#flush()
    if (this.#isHeard) this.#put(text)
  }

  /** Appends the decoded letters to their destination. */
  #flush(): void {
    const text = this.#letters.take()
    if (text !== "") this.#put(text)
  }

  #put(text: string): void {
    const { to } = this.#group
    if (to === "body") this.#paragraphs.say(text, this.#group.raised)
    if (to === "title" || to === "authors")
      this.#about[to] = (this.#about[to] + text.slice(0, MAX_ABOUT[to])).slice(0, MAX_ABOUT[to])
  }

  #unread(): string[] {
    const { letters, page } = this.#letters.unread
    if (letters === 0) return []
    return [`${letters} of its letters ${letters === 1 ? "is" : "are"} in code page ${page}, which is not supported`]
  }
}
