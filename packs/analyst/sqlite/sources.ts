import { tokensOf } from "./statement.ts"

/** The values that a statement assigns to columns, as SQL text. */
export interface SqliteSources {
  /** The columns that an INSERT lists; undefined if it lists none, which means all. */
  readonly fills: readonly string[] | undefined
  /**
   * The expressions of each row of VALUES, or each SELECT, by position; nothing after a `*`, because its width is
   * unknown.
   */
  readonly places: readonly (readonly string[])[]
  /** The expressions in SET, by column name in lower case. */
  readonly sets: ReadonlyMap<string, string>
  /** Sources of values: WITH and FROM. */
  readonly around: string
  /** INSERT … DEFAULT VALUES. */
  readonly defaults: boolean
}

/** Parses as much of a statement as is needed to find the sources of its values. */
export function valueSources(text: string): SqliteSources {
  const tokens = tokensOf(text)
  const at = (words: readonly string[], start = 0) =>
    tokens.findIndex((token, index) => index >= start && words.some((word) => isWord(token, word)))
  const into = at(["into"])
  const set = at(["set"])
  const rows = into < 0 ? -1 : at(["values", "select"], into)
  const from = at(["from"], Math.max(into, set, 0))
  const textOf = (some: readonly Token[]) => some.map(({ text: each }) => each).join(" ")
  const before = tokens.slice(0, Math.max(0, rows >= 0 ? rows : set))
  return {
    fills: into < 0 ? undefined : fillsOf(tokens.slice(into + 1)),
    places: rows < 0 ? [] : placesOf(tokens.slice(rows)),
    sets: setsOf(tokens),
    around: `${textOf(before)} ; ${from < 0 ? "" : textOf(upTo(tokens.slice(from), isOneOf(ENDS)))}`,
    defaults: rows > 0 && isWord(tokens[rows - 1] as Token, "default"),
  }
}

/** True if a value differs at each run: time, random, a counter. */
export function isMoving(expression: string): boolean {
  // Text in quotation marks is not a call.
  const words = expression.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (text) => (MOMENT.test(text) ? text : "''"))
  return ALWAYS.test(words) || isTime(words)
}

/** The same, without the parts that only select by such a value: a SELECT's conditions, or a WHEN. */
export function isGenerated(expression: string): boolean {
  const tokens = tokensOf(expression)
  const texts: string[] = []
  for (let index = 0; index < tokens.length; index++) {
    const { text, depth } = tokens[index] as Token
    texts.push(text)
    const inside = text === "(" && /^(?:select|with|values)$/i.test(tokens[index + 1]?.text ?? "")
    const end = inside ? ")" : /^when$/i.test(text) ? "then" : undefined
    if (end === undefined) continue
    while (index + 1 < tokens.length && !isAt(tokens[index + 1] as Token, end, depth)) index++
  }
  return isMoving(texts.join(" "))
}

const MOMENT = /^.\s*(?:now|subsec|subsecond)\s*.$/i

const ALWAYS =
  /\bcurrent_(?:date|time|timestamp)\b|\b(?:random|randomblob|last_insert_rowid|changes|total_changes)\s*\(/i
/** A time function depends on the current time if its arguments name no other. */
const TIME_CALL = /\b(?:date|time|datetime|strftime|julianday|unixepoch|timediff)\s*\(/i
const OF_THIS_MOMENT =
  /\b(?:date|time|datetime|strftime|julianday|unixepoch|timediff)\s*\(\s*\)|\bstrftime\s*\([^,()]*\)/i
const NAMED_MOMENT = /['"]\s*(?:now|subsec(?:ond)?)\s*['"]/i

/** In two steps, because a single pattern would search all following text after each call. */
function isTime(words: string): boolean {
  const call = TIME_CALL.exec(words)
  return call !== null && (OF_THIS_MOMENT.test(words) || NAMED_MOMENT.test(words.slice(call.index)))
}

interface Token {
  readonly text: string
  readonly depth: number
}

const isAt = ({ text, depth }: Token, word: string, level: number) => depth === level && text.toLowerCase() === word
const isWord = (token: Token, word: string) => isAt(token, word, 0)
const isOneOf = (words: readonly string[]) => (token: Token) => words.some((word) => isWord(token, word))

/** The clauses after these keywords select rows; they do not set values. */
const ENDS = ["where", "group", "having", "window", "order", "limit", "on", "returning"]
const SETS = ["union", "except", "intersect"]

/** The column names in brackets after the table and its alias. */
function fillsOf(tokens: readonly Token[]): string[] | undefined {
  const start = tokens.findIndex(({ text }) => text === "(")
  const before = tokens.slice(0, start)
  if (start < 0 || before.some((token) => ["values", "select", "with", "default"].some((word) => isWord(token, word))))
    return undefined
  return split(
    upTo(tokens.slice(start + 1), ({ text, depth }) => text === ")" && depth === 0),
    1,
  ).map(unquotedName)
}

/** The values of each row of VALUES, and of each SELECT of a compound. */
function placesOf(tokens: readonly Token[]): string[][] {
  const rows: string[][] = []
  for (let rest = tokens; rest.length > 0;) {
    const one = upTo(rest, isOneOf(SETS))
    rows.push(...(one[0] && isWord(one[0], "values") ? listedRows(one.slice(1)) : [selectedRow(one.slice(1))]))
    rest = rest.slice(one.length + 1)
    if (rest[0] && isWord(rest[0], "all")) rest = rest.slice(1)
  }
  const width = Math.max(...rows.map((row) => row.length))
  return Array.from({ length: width }, (_, place) => rows.map((row) => row[place] ?? ""))
}

function listedRows(tokens: readonly Token[]): string[][] {
  const rows: string[][] = []
  let rest = tokens
  while (rest[0]?.text === "(") {
    const inside = upTo(rest.slice(1), ({ text, depth }) => text === ")" && depth === 0)
    rows.push(split(inside, 1))
    rest = rest.slice(inside.length + 2)
    if (rest[0]?.text === ",") rest = rest.slice(1)
  }
  return rows
}

function selectedRow(tokens: readonly Token[]): string[] {
  const listed = tokens[0] && isOneOf(["distinct", "all"])(tokens[0]) ? tokens.slice(1) : tokens
  const places = split(upTo(listed, isOneOf(["from", ...ENDS])), 0)
  const star = places.findIndex((place) => /\*$/.test(place))
  return star < 0 ? places : places.slice(0, star)
}

function setsOf(tokens: readonly Token[]): Map<string, string> {
  const sets = new Map<string, string>()
  for (const [index, token] of tokens.entries()) {
    if (!isWord(token, "set")) continue
    for (const assignment of split(upTo(tokens.slice(index + 1), isOneOf(["from", ...ENDS])), 0)) {
      const [left = "", right = ""] = partedAt(assignment, "=")
      // `(a, b) = (…)` assigns several columns.
      const names = left.trim().startsWith("(") ? left.replace(/^\s*\(|\)\s*$/g, "").split(",") : [left]
      const listed = names.length > 1 ? split(tokensOf(right).slice(1, -1), 1) : [right]
      for (const [place, name] of names.map(unquotedName).entries()) {
        const value = listed.length === names.length ? listed[place] : right
        sets.set(name, `${sets.get(name) ?? ""} ; ${value}`)
      }
    }
  }
  return sets
}

function upTo(tokens: readonly Token[], isEnd: (token: Token) => boolean): readonly Token[] {
  const end = tokens.findIndex(isEnd)
  return end < 0 ? tokens : tokens.slice(0, end)
}

/** The texts between commas at one nesting level. */
function split(tokens: readonly Token[], level: number): string[] {
  const parts: string[] = [""]
  for (const { text, depth } of tokens) {
    if (text === "," && depth === level) parts.push("")
    else parts[parts.length - 1] += `${parts.at(-1) === "" ? "" : " "}${text}`
  }
  return parts
}

function partedAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

export const unquotedName = (written: string): string => {
  const text = written.trim()
  const inside = /^(?:"(.*)"|\[(.*)\]|`(.*)`|'(.*)')$/s.exec(text)
  return (inside ? (inside[1] ?? inside[2] ?? inside[3] ?? inside[4] ?? "").replaceAll('""', '"') : text).toLowerCase()
}
