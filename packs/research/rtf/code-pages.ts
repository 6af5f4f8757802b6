/** Code pages of Windows and the Macintosh by number, with the names for TextDecoder. */
const ENCODINGS = new Map<number, string>([
  ...[1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 874].map((page) => [page, `windows-${page}`] as const),
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => [28_590 + part, `iso-8859-${part}`] as const),
  ...([
    [932, "shift_jis"],
    [936, "gb18030"],
    [949, "euc-kr"],
    [950, "big5"],
    [54_936, "gb18030"],
  ] as const),
  ...([
    [10_000, "macintosh"],
    [10_007, "x-mac-cyrillic"],
    [866, "ibm866"],
    [20_866, "koi8-r"],
    [65_001, "utf-8"],
  ] as const),
  [28_591, "windows-1252"], // Latin-1, as on the web
])

/** The code page of a font by Windows' character set. Sets without a code page are left out. */
const OF_CHARSET = new Map<number, number>([
  ...([
    [77, 10_000],
    [128, 932],
    [129, 949],
    [134, 936],
    [136, 950],
    [161, 1253],
    [162, 1254],
    [163, 1258],
  ] as const),
  ...([
    [177, 1255],
    [178, 1256],
    [186, 1257],
    [204, 1251],
    [222, 874],
    [238, 1250],
    [254, 437],
    [255, 850],
  ] as const),
])

export const codePageOfCharset = (charset: number): number | undefined => OF_CHARSET.get(charset)

/** Decodes consecutive bytes. A character may have two bytes, each written as an own escape. */
export class CodePageText {
  readonly #decoders = new Map<number, InstanceType<typeof TextDecoder>>()
  readonly #bytes = new Uint8Array(4096)
  #length = 0
  #page = 1252
  #said = ""
  /** The last decoded part may end inside a character. */
  #halfway = false
  /** The number of characters that could not be decoded, and their code page. */
  readonly unread = { letters: 0, page: 0 }

  add(byte: number, page: number): void {
    if (page !== this.#page) this.#decode(false)
    this.#page = page
    if (this.#length === this.#bytes.length) this.#decode(true)
    this.#bytes[this.#length++] = byte
  }

  /** Returns the text since the last call. */
  take(): string {
    this.#decode(false)
    const said = this.#said
    this.#said = ""
    return said
  }

  #decode(stream: boolean): void {
    if (this.#length === 0 && !this.#halfway) return
    this.#halfway = stream
    const decoder = this.#decoderOf(this.#page)
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    if (decoder) this.#said += decoder.decode(bytes, { stream })
    else this.#said += this.#plain(bytes)
  }

  #decoderOf(page: number): InstanceType<typeof TextDecoder> | undefined {
    const known = this.#decoders.get(page)
    const label = known ? undefined : ENCODINGS.get(page)
    if (label === undefined) return known
    const made = new TextDecoder(label)
    this.#decoders.set(page, made)
    return made
  }

  /** Decodes only ASCII, which all code pages share. Other characters are counted as unread. */
  #plain(bytes: Uint8Array): string {
    const high = bytes.reduce((sum, byte) => sum + Number(byte > 127), 0)
    this.unread.letters += high
    if (high > 0) this.unread.page = this.#page
    return Array.from(bytes, (byte) => (byte > 127 ? "\uFFFD" : String.fromCharCode(byte))).join("")
  }
}
