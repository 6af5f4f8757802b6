/** Our statements are written with `?`, those of packs too; PostgreSQL counts its values. Without any there is nothing to count. */
export function toQuery(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  return { text: values.length > 0 ? numbered(text, values.length) : text, values: [...values] }
}

/**
 * A text with backslashes, any other quoted text, the beginning of a dollar quote or of a comment, or the place of a
 * value. What has no end goes to the end, so that no text is looked at twice.
 */
const MARKS =
  /(?<![\w$\u0080-\uffff])(?:[eE]'(?:[^'\\]|\\[^]|'')*'?|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|'[^']*'?|"[^"]*"?|--[^\n]*|\/\*|\?/g
const COMMENT_MARKS = /\/\*|\*\//g

/** Gives each place of a value its number. A `?` that is quoted, or in a comment, is a word and no value. */
export function numbered(text: string, values: number): string {
  let [shown, from, places] = ["", 0, 0]
  MARKS.lastIndex = 0
  for (let found = MARKS.exec(text); found; found = MARKS.exec(text)) {
    const [mark] = found
    if (mark === "?") {
      shown += `${text.slice(from, found.index)}$${++places}`
      from = MARKS.lastIndex
    } else if (mark === "/*") MARKS.lastIndex = endOfComment(text, MARKS.lastIndex)
    else if (mark.startsWith("$")) {
      const end = text.indexOf(mark, MARKS.lastIndex)
      MARKS.lastIndex = end < 0 ? text.length : end + mark.length
    }
  }
  if (places !== values) throw new Error(miscounted(text, places, values))
  return shown + text.slice(from)
}

/** Comments of PostgreSQL stand within each other. */
function endOfComment(text: string, start: number): number {
  COMMENT_MARKS.lastIndex = start
  for (let depth = 1; depth > 0;) {
    const found = COMMENT_MARKS.exec(text)
    if (!found) return text.length
    depth += found[0] === "/*" ? 1 : -1
  }
  return COMMENT_MARKS.lastIndex
}

/** PostgreSQL itself would only say that it wants another number of parameters. */
function miscounted(text: string, places: number, values: number): string {
  const shown = text.length > 500 ? `${text.slice(0, 500)}…` : text
  return `A statement has ${places} place(s) for values (?) and ${values} value(s): ${shown}
An operator that is written with ? has a function of the same meaning, such as jsonb_exists.`
}
