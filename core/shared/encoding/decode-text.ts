import { findEncoding, isValid, markOf } from "./text-encoding.ts"

/** What is said of a text's encoding: by whoever has sent it, and by the text itself. */
export interface SaidEncoding {
  readonly sent?: string | undefined
  readonly inside?: string | undefined
}

export type DecodedText =
  | {
      readonly type: "text"
      readonly text: string
      readonly encoding: string
      /** A mark or somebody says it, or every byte fits. Otherwise it is the likeliest, and a person should look. */
      readonly sure: boolean
      /** Some bytes do not fit, and have become U+FFFD. */
      readonly broken: boolean
    }
  | { readonly type: "unknown"; readonly because: string }

/**
 * Bytes as text. What counts, in this order: a mark at the beginning; what the sender says, where every byte fits it; that
 * every byte fits UTF-8; what the text says of itself; what its letters look like.
 */
export function decodeText(bytes: Uint8Array, said: SaidEncoding = {}): DecodedText {
  const found = findEncoding(bytes)
  const as = (encoding: string, sure: boolean, broken = false): DecodedText => ({
    ...{ type: "text", encoding, sure, broken },
    text: new TextDecoder(encoding).decode(bytes),
  })
  const isSure = found.type === "text" && found.sure
  const isMarked = markOf(bytes) !== undefined
  const sent = encodingOf(said.sent, found)
  if (!isMarked && sent && isValid(sent, bytes)) return as(sent, true)
  if (isSure) return as(found.encoding, true, found.broken)
  if (isMarked) return { type: "unknown", because: found.type === "unknown" ? found.because : "it is not text" }
  const inside = encodingOf(said.inside, found)
  if (inside && isValid(inside, bytes)) return as(inside, true)
  const named = sent ?? inside
  // A single byte that does not fit makes it no other encoding; only UTF-8 is said of what was never written in it.
  if (named && named !== "utf-8") return as(named, true, true)
  if (found.type === "text") return as(found.encoding, found.sure, found.broken)
  // UTF-8 but for some zeros, which are no letters of any text.
  if (named || (bytes.includes(0) && isValid("utf-8", bytes))) return as("utf-8", named !== undefined, true)
  return { type: "unknown", because: found.because }
}

/** A name of an encoding as the web knows it; undefined where nothing is called so. */
function encodingOf(name: string | undefined, found: ReturnType<typeof findEncoding>): string | undefined {
  if (name === undefined) return undefined
  let encoding: string
  try {
    ;({ encoding } = new TextDecoder(name))
  } catch {
    return undefined
  }
  if (!encoding.startsWith("utf-16")) return encoding
  // Which of the two it is, its zeros say; and a text that could be read so far is none of them.
  return found.type === "text" && found.encoding.startsWith("utf-16") ? found.encoding : undefined
}

/** What the header of an answer says: `text/html; charset=Shift_JIS`. */
export const charsetOfType = (type: string): string | undefined =>
  /;\s{0,20}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(type)?.[1]

/** What a page, or XML, says of its own encoding, as its first bytes have it. */
export function charsetOfMarkup(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 2048))
  const found =
    /^\s{0,20}<\?xml[^>]{0,200}\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i.exec(head) ??
    /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)
  return found?.[1]
}
