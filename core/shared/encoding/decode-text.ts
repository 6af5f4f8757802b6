import { findEncoding, isValid, markOf } from "./text-encoding.ts"

/** The declared encoding of a text: by its sender, and by the text itself. */
export interface DeclaredEncoding {
  readonly sent?: string | undefined
  readonly inside?: string | undefined
}

export type DecodedText =
  | {
      readonly type: "text"
      readonly text: string
      readonly encoding: string
      /**
       * True if a byte order mark or a declaration names it, or every byte fits. Otherwise it is a guess that a person
       * should check.
       */
      readonly sure: boolean
      /** True if some bytes do not fit and became U+FFFD. */
      readonly broken: boolean
    }
  | { readonly type: "unknown"; readonly because: string }

/**
 * Decodes bytes. In order of precedence: a byte order mark; the sender's declaration if every byte fits it; UTF-8 if
 * every byte fits; the text's own declaration; a guess from the letters.
 */
export function decodeText(bytes: Uint8Array, declared: DeclaredEncoding = {}): DecodedText {
  const found = findEncoding(bytes)
  const as = (encoding: string, sure: boolean, broken = false): DecodedText => ({
    ...{ type: "text", encoding, sure, broken },
    text: new TextDecoder(encoding).decode(bytes),
  })
  const isSure = found.type === "text" && found.sure
  const isMarked = markOf(bytes) !== undefined
  const sent = encodingOf(declared.sent, found)
  if (!isMarked && sent && isValid(sent, bytes)) return as(sent, true)
  if (isSure) return as(found.encoding, true, found.broken)
  if (isMarked) return { type: "unknown", because: found.type === "unknown" ? found.because : "it is not text" }
  const inside = encodingOf(declared.inside, found)
  if (inside && isValid(inside, bytes)) return as(inside, true)
  const named = sent ?? inside
  // A single invalid byte does not disprove an encoding, except UTF-8, which is often declared without being used.
  if (named && named !== "utf-8") return as(named, true, true)
  if (found.type === "text") return as(found.encoding, found.sure, found.broken)
  // UTF-8 except for some zeros, which are not letters of any text.
  if (named || (bytes.includes(0) && isValid("utf-8", bytes))) return as("utf-8", named !== undefined, true)
  return { type: "unknown", because: found.because }
}

/** The web's name for an encoding; undefined if the name is unknown. */
function encodingOf(name: string | undefined, found: ReturnType<typeof findEncoding>): string | undefined {
  if (name === undefined) return undefined
  let encoding: string
  try {
    ;({ encoding } = new TextDecoder(name))
  } catch {
    return undefined
  }
  if (!encoding.startsWith("utf-16")) return encoding
  // Its zeros show which of the two it is. Text without them is neither.
  return found.type === "text" && found.encoding.startsWith("utf-16") ? found.encoding : undefined
}

/** The charset of a content type: `text/html; charset=Shift_JIS`. */
export const charsetOfType = (type: string): string | undefined =>
  /;\s{0,20}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(type)?.[1]

/** The encoding that HTML or XML declares in its first bytes. */
export function charsetOfMarkup(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 2048))
  const found =
    /^\s{0,20}<\?xml[^>]{0,200}\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i.exec(head) ??
    /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)
  return found?.[1]
}
