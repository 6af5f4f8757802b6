/** Replaces `?` by `$1`, `$2` … for PostgreSQL, also in statements of packs. */
export function toQuery(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  return { text: values.length > 0 ? numberPlaceholders(text, values.length) : text, values: [...values] }
}

/**
 * A text with backslashes, any other quoted text, the start of a dollar quote or comment, or a placeholder. An unclosed
 * one extends to the end, so that no text is scanned twice.
 */
const MARKS =
  /(?<![\w$\u0080-\uffff])(?:[eE]'(?:[^'\\]|\\[^]|'')*'?|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|'[^']*'?|"[^"]*"?|--[^\n]*|\/\*|\?/g
const COMMENT_MARKS = /\/\*|\*\//g

/** Numbers the placeholders. A `?` in quotes or in a comment is not one. */
export function numberPlaceholders(text: string, values: number): string {
  let [numberedText, from, count] = ["", 0, 0]
  MARKS.lastIndex = 0
  for (let found = MARKS.exec(text); found; found = MARKS.exec(text)) {
    const [mark] = found
    if (mark === "?") {
      numberedText += `${text.slice(from, found.index)}$${++count}`
      from = MARKS.lastIndex
    } else if (mark === "/*") MARKS.lastIndex = endOfComment(text, MARKS.lastIndex)
    else if (mark.startsWith("$")) {
      const end = text.indexOf(mark, MARKS.lastIndex)
      MARKS.lastIndex = end < 0 ? text.length : end + mark.length
    }
  }
  if (count !== values) throw new Error(countMismatch(text, count, values))
  return numberedText + text.slice(from)
}

/** PostgreSQL nests comments. */
function endOfComment(text: string, start: number): number {
  COMMENT_MARKS.lastIndex = start
  for (let depth = 1; depth > 0;) {
    const found = COMMENT_MARKS.exec(text)
    if (!found) return text.length
    depth += found[0] === "/*" ? 1 : -1
  }
  return COMMENT_MARKS.lastIndex
}

/** PostgreSQL itself would only report a wrong number of parameters. */
function countMismatch(text: string, count: number, values: number): string {
  const numberedText = text.length > 500 ? `${text.slice(0, 500)}…` : text
  return `A statement has ${count} place(s) for values (?) and ${values} value(s): ${numberedText}
An operator that is written with ? has a function of the same meaning, such as jsonb_exists.`
}
