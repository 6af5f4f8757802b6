/** Longer raised text is a sentence in small letters, and is not converted. */
export const MAX_RAISED = 40

/** Above or below the line. */
export type RaisedTag = "sup" | "sub"

/** A raised text, and the text before it. */
interface Raised {
  readonly tag: RaisedTag
  readonly before: string
  readonly text: string
}

/**
 * Converts superscript and subscript to plain text: 10 with a raised 4 becomes `10^4` and not 104. A subscript number
 * follows directly, as in H2O. Ordinals, trademark signs and notes in brackets are not powers.
 */
export function raisedText({ tag, before, text }: Raised): string {
  const raised = text.trim()
  if (raised === "" || !/[\p{L}\p{N})\]}|]$/u.test(before) || isPlain(tag, before, raised)) return text
  const sign = tag === "sup" ? "^" : "_"
  return sign + bracketed(raised)
}

/** Puts brackets around several terms, unless they have them. */
export function bracketed(text: string): string {
  const isOne = /^[-+−±]?(?:\p{N}+(?:[.,]\p{N}+)?|\p{L}+)$/u.test(text) || [...text].length === 1
  return isOne || /^\([^()]*\)$/.test(text) ? text : `(${text})`
}

function isPlain(tag: Raised["tag"], before: string, raised: string): boolean {
  if (tag === "sub") return /^\p{N}+$/u.test(raised)
  if (/^(?:st|nd|rd|th)$/i.test(raised)) return /\p{N}$/u.test(before)
  if (/^(?:TM|SM|[®™℠©])$/.test(raised) || raised.startsWith("[")) return true
  return /\p{L}{3}\s+\p{L}{3}/u.test(raised)
}
