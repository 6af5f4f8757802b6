/**
 * The rule for text (STORE-04): NUL and lone surrogates can be stored by neither engine alike, so people are told (400)
 * and what models and tools write is mended with U+FFFD.
 */
const REPLACEMENT = "\uFFFD"

/** True for text that both engines store as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0")
}

/** The same text with everything that cannot be stored replaced by U+FFFD. */
export function mendText(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll("\0", REPLACEMENT)
}

// JSON.stringify writes NUL and lone surrogates as these escapes, so one scan of its output finds every bad string.
const ESCAPED = /\\u(?:0000|d[89a-f])/i

/** JSON text of a value from outside, with every string and key in it mended. */
export function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value) ?? "null"
  return json.includes("\\u") && ESCAPED.test(json) ? JSON.stringify(mendValue(JSON.parse(json))) : json
}

/** A deep copy of a JSON value in which every string and key can be stored. */
export function mendValue(value: unknown): unknown {
  if (typeof value === "string") return mendText(value)
  if (Array.isArray(value)) return value.map(mendValue)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mendText(key), mendValue(inner)]))
}
