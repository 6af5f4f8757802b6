/**
 * The rule for text: NUL and lone surrogates cannot be stored by both engines. They are rejected in users'
 * text (status 400) and replaced by U+FFFD in text of models and tools.
 */
const REPLACEMENT = "\uFFFD"

/** Returns true if both engines store the text unchanged. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0")
}

/** Replaces everything that cannot be stored with U+FFFD. */
export function mendText(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll("\0", REPLACEMENT)
}

// JSON.stringify writes NUL and lone surrogates as these escapes, so one scan of its output finds every bad string.
const ESCAPED = /\\u(?:0000|d[89a-f])/i

/** Serializes an untrusted value to JSON, with every string and key corrected by `mendText`. */
export function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value) ?? "null"
  return json.includes("\\u") && ESCAPED.test(json) ? JSON.stringify(mendValue(JSON.parse(json))) : json
}

/** Copies a JSON value, with every string and key corrected by `mendText`. */
export function mendValue(value: unknown): unknown {
  if (typeof value === "string") return mendText(value)
  if (Array.isArray(value)) return value.map(mendValue)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mendText(key), mendValue(inner)]))
}

/** The text of a note to embed. Includes the title, which describes a note as well as its text. */
export const textOfNote = ({ title, content }: { readonly title: string; readonly content: string }): string =>
  `${title}\n\n${content}`
