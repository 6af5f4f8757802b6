/** Unassigned bytes of windows-1252. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])
const UPPER = new Set([0x8a, 0x8c, 0x8e, 0x9f])
const LOWER = new Set([0x9a, 0x9c, 0x9e, 0xaa, 0xba, 0xdf])
/** Characters that occur inside words: ’ – · and the soft hyphen. */
const IN_WORDS = new Set([0x92, 0x96, 0xad, 0xb7])

/** If more of the bytes than this are adjacent, or where no western text has them, it is not western. */
const MAX_TOGETHER = 0.5
const MAX_ODD = 0.1

/**
 * True if the bytes outside ASCII are plausible as windows-1252. Every byte is a character there, so this checks where
 * they are: western letters are few among ASCII letters, and no punctuation or capital is between two small letters.
 */
export function looksWestern(bytes: Uint8Array): boolean {
  let [high, together, odd] = [0, 0, 0]
  for (const [at, byte] of bytes.entries()) {
    if (byte < 128) continue
    if (UNUSED.has(byte)) return false
    const [before = 32, after = 32] = [bytes[at - 1], bytes[at + 1]]
    high++
    if (before > 127 || after > 127) together++
    if (isOdd(byte, before, after)) odd++
  }
  return together <= high * MAX_TOGETHER && odd <= high * MAX_ODD
}

function isOdd(byte: number, before: number, after: number): boolean {
  if (isLower(byte) || IN_WORDS.has(byte)) return false
  return isUpper(byte) ? isLower(before) && isLower(after) : isLetter(before) && isLetter(after)
}

const isUpper = (byte: number) =>
  (byte >= 65 && byte <= 90) || UPPER.has(byte) || (byte >= 0xc0 && byte <= 0xde && byte !== 0xd7)
const isLower = (byte: number) => (byte >= 97 && byte <= 122) || LOWER.has(byte) || (byte >= 0xe0 && byte !== 0xf7)
const isLetter = (byte: number) => isUpper(byte) || isLower(byte)
