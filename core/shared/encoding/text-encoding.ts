import { findEastAsian } from "./east-asian.ts"
import { binaryKind } from "./binary-kind.ts"

/**
 * The supported encodings. Some can be named but are never guessed. Latin-1 means windows-1252, as on the web; GBK is
 * most of gb18030.
 */
export const encodings = [
  ...["utf-8", "utf-16le", "utf-16be", "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254"],
  ...["iso-8859-2", "koi8-r", "macintosh", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"],
] as const
export type Encoding = (typeof encodings)[number]

export type EncodingVerdict =
  | {
      readonly type: "text"
      readonly encoding: Encoding
      /** True if a byte order mark names it, or every byte fits. Otherwise it is a guess that a person should check. */
      readonly sure: boolean
      /** True if some bytes do not fit and become U+FFFD. */
      readonly broken: boolean
    }
  /** Not text, or text that would be decoded to wrong letters, with a sentence that says what to do. */
  | { readonly type: "unknown"; readonly because: string; readonly problem: string }

const SAVE = "save it as UTF-8, or say which encoding it is"
const NO_TEXT = "it contains NUL bytes, so it is not text, or uses an unusual encoding"
/** How many bytes are examined to guess the encoding. */
const HEAD = 64 * 1024
const SAMPLE = 256 * 1024

/** Determines the encoding of bytes that are all in memory. */
export function findEncoding(bytes: Uint8Array): EncodingVerdict {
  const finder = new EncodingFinder()
  finder.see(bytes)
  return finder.end()
}

/**
 * Determines the encoding of a stream of bytes: a byte order mark, else UTF-8 if every byte fits, else UTF-16 if every
 * second byte is zero, else a guess from the letters. Holds at most 320 KB.
 */
export class EncodingFinder {
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true })
  readonly #head = new Sample(HEAD)
  /**
   * Lines with bytes outside ASCII. In none of the encodings that are distinguished here can a character contain a line
   * end.
   */
  readonly #lines = new Sample(SAMPLE)
  readonly #zeros = new Zeros()
  #isUtf8 = true
  #insideLine = false

  see(bytes: Uint8Array): void {
    this.#head.add(bytes)
    this.#zeros.see(bytes)
    this.#tryUtf8(() => this.#utf8.decode(bytes, { stream: true }))
    if (!this.#lines.isFull) this.#keepLines(bytes)
  }

  end(): EncodingVerdict {
    this.#tryUtf8(() => this.#utf8.decode())
    const head = this.#head.bytes
    const kind = binaryKind(head)
    if (kind !== undefined && (this.#zeros.any || !this.#isUtf8))
      return { type: "unknown", because: kind, problem: kind }
    const marked = markOf(head)
    if (marked === "utf-32") return unknown("it is UTF-32, which is not read")
    if (marked === "utf-8") return this.#zeros.any ? noText() : text(marked, true, !this.#isUtf8)
    if (marked) return this.#zeros.pairs > 0 ? noText() : text(marked, true, !isValid(marked, head))
    if (this.#zeros.any) return this.#withoutMark(head)
    if (this.#isUtf8)
      return hasEscapes(head) ? unknown("it looks like ISO-2022, which is not read") : text("utf-8", true)
    return guess(this.#lines.bytes)
  }

  #tryUtf8(decode: () => void): void {
    try {
      if (this.#isUtf8) decode()
    } catch {
      this.#isUtf8 = false
    }
  }

  #withoutMark(head: Uint8Array): EncodingVerdict {
    const encoding = this.#zeros.utf16
    return encoding && isPlainText(encoding, head) ? text(encoding, false) : noText()
  }

  /**
   * A line across two chunks is judged separately in each chunk. That is precise enough, because a chunk is much longer
   * than a line.
   */
  #keepLines(bytes: Uint8Array): void {
    let start = 0
    while (start < bytes.length && !this.#lines.isFull) {
      const found = bytes.indexOf(10, start)
      const end = found === -1 ? bytes.length : found + 1
      const line = bytes.subarray(start, end)
      this.#insideLine = (start === 0 && this.#insideLine) || line.some((byte) => byte > 127)
      if (this.#insideLine) this.#lines.add(line)
      if (found !== -1) this.#insideLine = false
      start = end
    }
  }
}

const text = (encoding: Encoding, sure: boolean, broken = false): EncodingVerdict => ({
  type: "text",
  encoding,
  sure,
  broken,
})
const unknown = (because: string): EncodingVerdict => ({ type: "unknown", because, problem: `${because}; ${SAVE}` })
const noText = () => unknown(NO_TEXT)

/** Bytes that are not UTF-8, in the lines that have some. */
function guess(lines: Uint8Array): EncodingVerdict {
  // Text from several sources, or text that was cut: mostly UTF-8, whose letters would all be wrong in another
  // encoding.
  const decoded = new TextDecoder().decode(lines)
  const wrong = decoded.split("\uFFFD").length - 1
  const right = (decoded.match(/[^\0-\u007F\uFFFD]/g) ?? []).length
  if (right > wrong) return text("utf-8", false, true)
  if (looksWestern(lines)) return text("windows-1252", false)
  const [best, next] = findEastAsian(lines)
  if (best && !next) return text(best, false)
  const which = best ? `, perhaps ${best} or ${next}` : ""
  return unknown(`it is not UTF-8, and its letters do not tell in which encoding it is${which}`)
}

/** The encoding that a byte order mark names, if there is one. */
export function markOf(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | "utf-32" | undefined {
  const [a, b, c, d] = head
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8"
  if ((a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff))
    return "utf-32"
  if (a === 0xff && b === 0xfe) return "utf-16le"
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined
}

/** True if every byte fits. The last character may be cut off. */
export function isValid(encoding: string, bytes: Uint8Array): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/**
 * Programs and images contain zeros, too. Decoded as text, they have control characters and letters that do not exist.
 */
function isPlainText(encoding: Encoding, head: Uint8Array): boolean {
  if (!isValid(encoding, head)) return false
  const decoded = new TextDecoder(encoding).decode(head.subarray(0, head.length - (head.length % 2)))
  return !/[\0-\u0008\u000E-\u001F\u007F\uFFFE\uFFFF\p{Cn}\p{Co}]/u.test(decoded)
}

/** ISO-2022 is ASCII with an escape before other letters. */
function hasEscapes(head: Uint8Array): boolean {
  for (let at = head.indexOf(27); at !== -1; at = head.indexOf(27, at + 1))
    if (head[at + 1] === 0x24 && (head[at + 2] === 0x40 || head[at + 2] === 0x42)) return true
  return false
}

/** Collects the first bytes. */
class Sample {
  readonly #most: number
  #parts: Uint8Array[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#length >= this.#most
  }

  add(bytes: Uint8Array): void {
    const part = bytes.slice(0, this.#most - this.#length)
    if (part.length > 0) this.#parts.push(part)
    this.#length += part.length
  }

  get bytes(): Uint8Array {
    const all = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}

/** The positions of zeros: Latin text in UTF-16 has one in every character, always in the same half. */
class Zeros {
  readonly #on: [even: number, odd: number] = [0, 0]
  #at = 0
  #before = 1
  /** Characters that would be U+0000 in UTF-16. */
  pairs = 0

  see(bytes: Uint8Array): void {
    for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) {
      const odd = (this.#at + at) % 2 === 1
      this.#on[odd ? 1 : 0]++
      if (odd && (at === 0 ? this.#before : bytes[at - 1]) === 0) this.pairs++
    }
    this.#before = bytes.at(-1) ?? this.#before
    this.#at += bytes.length
  }

  get any(): boolean {
    return this.#on[0] + this.#on[1] > 0
  }

  get utf16(): "utf-16le" | "utf-16be" | undefined {
    const [even, odd] = this.#on
    if (this.pairs > 0 || this.#at % 2 === 1) return undefined
    // Line ends and commas have theirs in one half; some letters (U+4E00) have one in the other.
    if (odd > even) return "utf-16le"
    return even > odd ? "utf-16be" : undefined
  }
}

/** Unassigned bytes of windows-1252. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])
const UPPER = new Set([0x8a, 0x8c, 0x8e, 0x9f])
const LOWER = new Set([0x9a, 0x9c, 0x9e, 0xaa, 0xba, 0xdf])
/** Characters that occur inside words: ’ – · and the soft hyphen. */
const IN_WORDS = new Set([0x92, 0x96, 0xad, 0xb7])

/** If more of the bytes than this are adjacent, or where no western text has them, it is not western. */
const MAX_TOGETHER = 0.5
const MAX_IMPLAUSIBLE = 0.1

/**
 * True if the bytes outside ASCII are plausible as windows-1252. Every byte is a character there, so this checks where
 * they are: western letters are few among ASCII letters, and no punctuation or capital is between two small letters.
 */
function looksWestern(bytes: Uint8Array): boolean {
  let [high, together, implausible] = [0, 0, 0]
  for (const [at, byte] of bytes.entries()) {
    if (byte < 128) continue
    if (UNUSED.has(byte)) return false
    const [before = 32, after = 32] = [bytes[at - 1], bytes[at + 1]]
    high++
    if (before > 127 || after > 127) together++
    if (isImplausible(byte, before, after)) implausible++
  }
  return together <= high * MAX_TOGETHER && implausible <= high * MAX_IMPLAUSIBLE
}

function isImplausible(byte: number, before: number, after: number): boolean {
  if (isLower(byte) || IN_WORDS.has(byte)) return false
  return isUpper(byte) ? isLower(before) && isLower(after) : isLetter(before) && isLetter(after)
}

const isUpper = (byte: number) =>
  (byte >= 65 && byte <= 90) || UPPER.has(byte) || (byte >= 0xc0 && byte <= 0xde && byte !== 0xd7)
const isLower = (byte: number) => (byte >= 97 && byte <= 122) || LOWER.has(byte) || (byte >= 0xe0 && byte !== 0xf7)
const isLetter = (byte: number) => isUpper(byte) || isLower(byte)
