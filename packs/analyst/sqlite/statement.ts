import { isStorable, MAX_SQL, own } from "../../../core/program.ts"

const READS = ["select", "with", "values"]
export const CHANGES = ["insert", "update", "delete", "replace", "with"]

/**
 * Returns the reason why a text is not a single statement that reads, by SQLite's rules for words, strings and
 * comments; undefined if it is. SQLite compiles only the first of several statements and silently ignores the rest, so
 * they are reported here.
 */
export function problemOfStatement(sql: string, words = READS): string | undefined {
  if (sql.length > MAX_SQL) return `it is longer than ${MAX_SQL} characters`
  if (!isStorable(sql)) return "it holds a NUL or half of a surrogate pair"
  const [first, ...rest] = statementsOf(sql)
  if (first === undefined) return "there is no statement in it"
  if (rest.length > 0) return "there is more than one statement in it"
  const explained = words === READS ? first.replace(/^explain\s+(?:query\s+plan\s+)?/i, "") : first
  const word = /^[a-z_]+/i.exec(explained)?.[0].toLowerCase() ?? explained.slice(0, 1)
  if (!words.includes(word)) return `it begins with "${word.slice(0, 30)}"`
  return hasParameter(first) ? "it holds a parameter, such as ? or :name, for which there is no value" : undefined
}

/** SQLite would silently use NULL as the value of a parameter. */
function hasParameter(statement: string): boolean {
  for (let at = 0; at < statement.length; at = endOfPiece(statement, at)) {
    const sign = statement.charAt(at)
    // A dollar sign may also be part of a name.
    if ("?:@".includes(sign) || (sign === "$" && !/[\w$\u0080-\uffff]/.test(statement.charAt(at - 1)))) return true
  }
  return false
}

const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "[": "]" }
const SPACES = " \t\n\f\r"

/** The statements of a text, without the spaces and comments before them. */
export function statementsOf(sql: string): string[] {
  const statements: string[] = []
  let start = -1
  for (let at = 0; at < sql.length;) {
    const sign = sql.charAt(at)
    const end = endOfPiece(sql, at)
    if (sign === ";") {
      if (start >= 0) statements.push(sql.slice(start, at))
      start = -1
    } else if (start < 0 && !SPACES.includes(sign) && !isComment(sql, at)) start = at
    at = end
  }
  if (start >= 0) statements.push(sql.slice(start))
  return statements
}

/**
 * The words, names, texts and symbols of a statement, each with the number of open brackets around it. A bracket has
 * the depth of the text outside it.
 */
export function tokensOf(sql: string): { readonly text: string; readonly depth: number }[] {
  const tokens: { text: string; depth: number }[] = []
  let depth = 0
  for (let at = 0; at < sql.length;) {
    const word = /[\w$\u0080-\uffff.]+/y
    word.lastIndex = at
    const end = word.exec(sql) ? word.lastIndex : endOfPiece(sql, at)
    const text = sql.slice(at, end)
    if (text === ")") depth--
    const last = tokens.at(-1)
    // A doubled quotation mark is one inside the text.
    if (last && text.length > 1 && sql.charAt(at - 1) === text.charAt(0) && own(CLOSING, text.charAt(0)))
      last.text += text
    else if (!SPACES.includes(text) && !isComment(sql, at)) tokens.push({ text, depth })
    if (text === "(") depth++
    at = end
  }
  return tokens
}

const isComment = (sql: string, at: number) => sql.startsWith("--", at) || sql.startsWith("/*", at)

/** Returns the end of the token at this position: a comment, a quoted text, or a single character. */
function endOfPiece(sql: string, at: number): number {
  if (sql.startsWith("--", at)) return after(sql, "\n", at)
  // An unclosed comment extends to the end. The star directly after the slash does not close it.
  if (sql.startsWith("/*", at)) return after(sql, "*/", at + 2)
  const closing = own(CLOSING, sql.charAt(at))
  // A doubled quotation mark ends one token and starts the next, which has the same effect.
  return closing === undefined ? at + 1 : after(sql, closing, at + 1)
}

function after(sql: string, end: string, from: number): number {
  const found = sql.indexOf(end, from)
  return found < 0 ? sql.length : found + end.length
}
