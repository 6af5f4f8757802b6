/** Receives the tokens of an RTF file in order. */
export interface RtfSink {
  open(): void
  /** False if it closes the outermost group: the rest does not belong to the document. */
  close(): boolean
  /** A control word, such as `\par` or `\u8212`. */
  word(name: string, value: number | undefined): void
  /** A control symbol, such as `\~`. */
  symbol(sign: string): void
  /** `\'hh`. */
  byte(byte: number): void
  text(bytes: Uint8Array): void
}

const [OPEN, CLOSE, BACKSLASH, QUOTE, MINUS, SPACE] = [0x7b, 0x7d, 0x5c, 0x27, 0x2d, 0x20]
/** Longer control words are not valid. */
const LONGEST_WORD = 32

/** Reads each byte once. Returns false if the document is incomplete. */
export function scanRtf(given: Uint8Array, from: number, sink: RtfSink): boolean {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === OPEN) {
      sink.open()
      at++
    } else if (byte === CLOSE) {
      if (!sink.close()) return true
      at++
    } else if (byte === BACKSLASH) at = control(bytes, at + 1, sink)
    else {
      const start = at
      while (at < bytes.length && !isSyntax(bytes[at]!)) at++
      sink.text(bytes.subarray(start, at))
    }
  }
  return false
}

/** Reads a control word after a backslash; returns its end. */
function control(bytes: Buffer, from: number, sink: RtfSink): number {
  const first = bytes[from]
  if (first === undefined) return from
  if (first === QUOTE) {
    const digits = latin1(bytes, from + 1, from + 3)
    if (!/^[\da-f]{2}$/i.test(digits)) return from + 1
    sink.byte(Number.parseInt(digits, 16))
    return from + 3
  }
  if (!isLetter(first)) {
    sink.symbol(String.fromCharCode(first))
    return from + 1
  }
  let at = from
  while (isLetter(bytes[at])) at++
  const name = latin1(bytes, from, Math.min(at, from + LONGEST_WORD))
  const digits = at
  if (bytes[at] === MINUS && isDigit(bytes[at + 1])) at++
  while (isDigit(bytes[at])) at++
  const value = at === digits ? undefined : Number(latin1(bytes, digits, Math.min(at, digits + 12)))
  // A space after the word belongs to it.
  if (bytes[at] === SPACE) at++
  if (name === "bin") return at + Math.max(0, value ?? 0)
  sink.word(name, value)
  return at
}

const latin1 = (bytes: Buffer, start: number, end: number) => bytes.toString("latin1", start, end)
const isSyntax = (byte: number) => byte === OPEN || byte === CLOSE || byte === BACKSLASH
const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39
const isLetter = (byte = 0) => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
