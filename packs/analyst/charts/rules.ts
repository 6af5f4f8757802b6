import { chartLimits as limits } from "./limits.ts"
import { specPath, refuse } from "./problem.ts"
import { isObject, type SpecObject } from "./text.ts"
import { own } from "../../../core/program.ts"

export type Path = readonly (string | number)[]

/** An expression of a specification, and the names that it may use besides the row. */
export interface FoundExpression {
  readonly text: string
  readonly path: Path
}

/** Keywords of Vega-Lite that fetch, link, react to input or contain data. Our charts use none of them. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  url: "nothing is fetched and pictures are not drawn",
  href: "a chart has no links",
  src: "nothing is fetched",
  usermeta: "it is not drawn",
  datasets: "the data is put in for you",
  signal: 'write an expression as {"expr": …}',
  signals: "there are none in Vega-Lite",
  events: "a chart does not react to the mouse",
  bind: "a chart has no controls",
  select: "a chart does not react to the mouse; leave out params that select",
  param: "there are no selections to refer to",
  selection: "there are no selections to refer to",
  customFormatTypes: "write format",
  projection: "maps are not drawn",
  loader: "nothing is fetched",
  // In brackets, because otherwise it would set the prototype instead of a key.
  ["__proto__"]: "it is no word of Vega-Lite",
  constructor: "it is no word of Vega-Lite",
  prototype: "it is no word of Vega-Lite",
}

const MARKS = ["image", "geoshape"]

/**
 * Checks every word of a specification and returns its expressions. Throws for anything that a chart may not contain.
 */
export function checkWords(spec: SpecObject): FoundExpression[] {
  const found: FoundExpression[] = []
  visit(spec, [], found)
  return found
}

function visit(value: unknown, path: Path, found: FoundExpression[]): void {
  if (path.length > limits.depth) refuse(`it is nested deeper than ${limits.depth} levels`)
  if (typeof value === "string") return checkText(value, path)
  if (typeof value === "number") return checkNumber(value, path)
  if (Array.isArray(value)) {
    if (value.length > limits.list) refuse(`${specPath(path)} lists ${value.length} things; ${limits.list} are allowed`)
    return value.forEach((each, at) => visit(each, [...path, at], found))
  }
  if (!isObject(value)) return
  for (const [key, inside] of Object.entries(value)) {
    const at = [...path, key]
    const why = own(FORBIDDEN, key)
    if (why) refuse(`leave out ${specPath(at)}: ${why}`)
    if (key === "data") checkData(inside, at)
    if (key === "mark" || (key === "type" && path.at(-1) === "mark")) checkMark(inside, at)
    if (key === "formatType" && inside !== "number" && inside !== "time")
      refuse(`${specPath(at)} may be number or time`)
    if (EXPRESSIONS.has(key)) collect(inside, at, found)
    else visit(inside, at, found)
  }
}

const EXPRESSIONS = new Set(["filter", "test", "expr", "calculate", "labelExpr"])

/** Filters and tests may be texts, also inside of and, or, not. Anything else is checked like the rest. */
function collect(value: unknown, path: Path, found: FoundExpression[]): void {
  if (typeof value === "string") found.push({ text: value, path })
  else if (Array.isArray(value)) value.forEach((each, at) => collect(each, [...path, at], found))
  else if (isObject(value) && ["and", "or", "not"].some((word) => word in value)) {
    for (const [key, inside] of Object.entries(value)) collect(inside, [...path, key], found)
  } else visit(value, path, found)
}

/** The rows are ours. The top level may name them; other levels inherit them. */
function checkData(data: unknown, path: Path): void {
  if (data === null || (isObject(data) && Object.keys(data).every((key) => key === "name"))) return
  refuse(`leave out ${specPath(path)}: the result of the query is put in for you, and a chart has no other data`)
}

function checkMark(mark: unknown, path: Path): void {
  if (typeof mark === "string" && MARKS.includes(mark)) refuse(`${specPath(path)}: ${mark} marks are not drawn`)
}

function checkText(text: string, path: Path): void {
  if (text.length > limits.text) refuse(`the text at ${specPath(path)} is longer than ${limits.text} characters`)
  if (/url\s*\(|javascript:/i.test(text))
    refuse(`leave out ${specPath(path)}: charts cannot fetch data or contain links`)
  if (/^(shape|path)$/.test(String(path.at(-1))) && !/^[\w\s.,+-]*$/.test(text))
    refuse(`${specPath(path)} is no outline`)
  // A format may contain a width: a number formatted to ten million places is a text of ten million characters.
  if (/format/i.test(String(path.at(-1))) && /\d{3}/.test(text)) refuse(`the width in ${specPath(path)} is too large`)
  const key = path.at(-1)
  if ((key === "tickCount" || key === "interval") && text !== "year")
    refuse(`${specPath(path)} may be a number up to ${limits.ticks}`)
}

/** Keywords whose number is a count of created items. */
const COUNTS: Readonly<Record<string, number>> = {
  ...{ width: limits.pixels, height: limits.pixels, minWidth: limits.pixels, minHeight: limits.pixels },
  ...{ continuousWidth: limits.pixels, continuousHeight: limits.pixels, maxbins: limits.bins, limit: limits.pixels },
  ...{ tickCount: limits.ticks, nice: limits.ticks, count: limits.ticks, symbolLimit: limits.ticks, order: 10 },
  ...{ steps: limits.steps, minsteps: limits.steps, maxsteps: limits.steps, fontSize: 200, columns: limits.views },
}

function checkNumber(value: number, path: Path): void {
  if (!(Math.abs(value) <= 1e15)) refuse(`the number at ${specPath(path)} is too large`)
  const key = String(path.at(-1))
  const most = own(COUNTS, key)
  if (most !== undefined && (value > most || value < 0)) refuse(`${specPath(path)} may be at most ${most}`)
  const inside = path.at(-2)
  if (key === "step" && (inside === "width" || inside === "height") && !(value > 0 && value <= 200))
    refuse(`${specPath(path)} may be at most 200`)
}
