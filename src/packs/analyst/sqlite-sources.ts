import { tokensOf } from "./sqlite-statement.ts"

/** What a statement gives to columns, as it is written. */
export interface SqliteSources {
  /** The columns that an INSERT names; undefined where it names none, and so means all. */
  readonly fills: readonly string[] | undefined
  /** By place, what each row of VALUES, or a plain SELECT, has there; undefined where that is not told. */
  readonly places: readonly (readonly string[])[] | undefined
  /** By name in small letters, what SET says. */
  readonly sets: ReadonlyMap<string, string>
  /** What values may be taken from: what comes before the statement's own words, and behind FROM. */
  readonly around: string
  readonly all: string
}

/** Reads as much of a statement as has to be known to tell who decides about a value. */
export function sourcesOf(text: string): SqliteSources {
  const tokens = tokensOf(text)
  const at = (word: string, from = 0) => tokens.findIndex((token, index) => index >= from && isWord(token, word))
  const into = at("into")
  const values = into < 0 ? -1 : at("values", into)
  const set = at("set")
  const from = at("from", Math.max(into, set, 0))
  // Several SETs, of several conflicts: which one counts is not told here.
  const once = set >= 0 && at("set", set + 1) < 0
  const select = into < 0 || values >= 0 ? -1 : at("select", into)
  const textOf = (some: readonly Token[]) => some.map(({ text: each }) => each).join(" ")
  const before = tokens.slice(0, Math.max(0, into >= 0 ? into : set))
  return {
    fills: into < 0 ? undefined : fillsOf(tokens.slice(into + 1)),
    places:
      values < 0 ? selectedPlaces(select < 0 ? [] : tokens.slice(select + 1)) : placesOf(tokens.slice(values + 1)),
    sets: once ? setsOf(tokens.slice(set + 1)) : new Map(),
    around: `${textOf(before)} ; ${from < 0 ? "" : textOf(tokens.slice(from))}`,
    all: text,
  }
}

/** Whether a value is another one each time: the time, chance, a counter. A text too many only means that less is compared. */
export function isMoving(expression: string): boolean {
  // What stands inside a text is no call.
  const words = expression.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (text) => (MOMENT.test(text) ? text : "''"))
  return ALWAYS.test(words) || TIME.test(words)
}

const MOMENT = /^.\s*(?:now|subsec|subsecond)\s*.$/i

const ALWAYS =
  /\bcurrent_(?:date|time|timestamp)\b|\b(?:random|randomblob|last_insert_rowid|changes|total_changes)\s*\(/i
/** A function of the time is one of this moment where it names no other. */
const TIME =
  /\b(?:date|time|datetime|strftime|julianday|unixepoch|timediff)\s*\((?:\s*\)|.*['"]\s*(?:now|subsec(?:ond)?)\s*['"])|\bstrftime\s*\([^,()]*\)/is

interface Token {
  readonly text: string
  readonly depth: number
}

const isWord = ({ text, depth }: Token, word: string) => depth === 0 && text.toLowerCase() === word

/** A name in brackets behind the table's, and its alias. */
function fillsOf(tokens: readonly Token[]): string[] | undefined {
  const start = tokens.findIndex(({ text }) => text === "(")
  const before = tokens.slice(0, start)
  if (start < 0 || before.some((token) => ["values", "select", "with", "default"].some((word) => isWord(token, word))))
    return undefined
  return split(
    upTo(tokens.slice(start + 1), ({ text, depth }) => text === ")" && depth === 0),
    1,
  ).map(nameOf)
}

function placesOf(tokens: readonly Token[]): string[][] {
  const rows: string[][] = []
  let rest = tokens
  while (rest[0]?.text === "(") {
    const inside = upTo(rest.slice(1), ({ text, depth }) => text === ")" && depth === 0)
    rows.push(split(inside, 1))
    rest = rest.slice(inside.length + 2)
    if (rest[0]?.text === ",") rest = rest.slice(1)
  }
  return (rows[0] ?? []).map((_, place) => rows.map((row) => row[place] ?? ""))
}

/** Of several SELECTs, or with a `*`, nothing is told. */
function selectedPlaces(tokens: readonly Token[]): string[][] | undefined {
  const several = tokens.some((token) => ["union", "except", "intersect"].some((word) => isWord(token, word)))
  const ends = ["from", "where", "group", "having", "window", "order", "limit", "on"]
  const places = split(
    upTo(tokens, (token) => ends.some((word) => isWord(token, word))),
    0,
  )
  const isOpen =
    several || places.some((place) => place === "" || /\*$/.test(place) || /^(?:distinct|all)\b/i.test(place))
  return isOpen ? undefined : places.map((place) => [place])
}

function setsOf(tokens: readonly Token[]): Map<string, string> {
  const ends = ["where", "from", "order", "limit", "returning"]
  const inside = upTo(tokens, (token) => ends.some((word) => isWord(token, word)))
  return new Map(
    split(inside, 0).flatMap((assignment) => {
      const [left = "", right = ""] = partedAt(assignment, "=")
      // `(a, b) = (…)` names several.
      const names = left.trim().startsWith("(") ? left.replace(/^\s*\(|\)\s*$/g, "").split(",") : [left]
      return names.map((name): [string, string] => [nameOf(name), right])
    }),
  )
}

function upTo(tokens: readonly Token[], isEnd: (token: Token) => boolean): readonly Token[] {
  const end = tokens.findIndex(isEnd)
  return end < 0 ? tokens : tokens.slice(0, end)
}

/** The texts between the commas of one level. */
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

const nameOf = (written: string): string => {
  const text = written.trim()
  const inside = /^(?:"(.*)"|\[(.*)\]|`(.*)`|'(.*)')$/s.exec(text)
  return (inside ? (inside[1] ?? inside[2] ?? inside[3] ?? inside[4] ?? "").replaceAll('""', '"') : text).toLowerCase()
}
