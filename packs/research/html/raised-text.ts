/** Longer ones are sentences that were made small, and stay as they are. */
export const MAX_RAISED = 40

/** Above or below the line. */
export type RaisedTag = "sup" | "sub"

/** The text before it, and its own text. */
interface Raised {
  readonly tag: RaisedTag
  readonly before: string
  readonly text: string
}

/**
 * Small text above or below the line, as it is written on one: 10 with a raised 4 is `10^4` and not 104. What is below and
 * a number stays as chemists write it: H2O. Ordinals, marks of trade and notes in brackets are no powers.
 */
export function raisedText({ tag, before, text }: Raised): string {
  const said = text.trim()
  if (said === "" || !/[\p{L}\p{N})\]}|]$/u.test(before) || isPlain(tag, before, said)) return text
  const sign = tag === "sup" ? "^" : "_"
  return sign + bracketed(said)
}

/** As one thing: signs and several terms between brackets, where they do not stand there already. */
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
