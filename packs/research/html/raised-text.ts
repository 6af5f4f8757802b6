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
  const said = text.trim()
  if (said === "" || !/[\p{L}\p{N})\]}|]$/u.test(before) || isPlain(tag, before, said)) return text
  const sign = tag === "sup" ? "^" : "_"
  return sign + bracketed(said)
}

/** Puts brackets around several terms, unless they have them. */
export function bracketed(text: string): string {
  const isOne = /^[-+−±]?(?:\p{N}+(?:[.,]\p{N}+)?|\p{L}+)$/u.test(text) || [...text].length === 1
  return isOne || /^\([^()]*\)$/.test(text) ? text : `(${text})`
}

function isPlain(tag: Raised["tag"], before: string, said: string): boolean {
  if (tag === "sub") return /^\p{N}+$/u.test(said)
  if (/^(?:st|nd|rd|th)$/i.test(said)) return /\p{N}$/u.test(before)
  if (/^(?:TM|SM|[®™℠©])$/.test(said) || said.startsWith("[")) return true
  return /\p{L}{3}\s+\p{L}{3}/u.test(said)
}
