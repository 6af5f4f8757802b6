type Fields = Readonly<Record<string, unknown>>

/**
 * Limits that are checked before drawing. The drawing thread can be stopped when it takes too long, but by then it
 * could have used up the memory of the browser, so everything that generates rows is counted first.
 */
const MAX = { depth: 60, nodes: 600_000, made: 100_000, pixels: 10_000, repeats: 400, text: 100_000 } as const

/** Properties whose number multiplies rows. */
const COUNTS = new Set(["maxbins", "tickCount", "steps", "minsteps", "maxsteps", "count", "nice", "symbolLimit"])
const PARTS = new Set(["layer", "concat", "hconcat", "vconcat"])
const LENGTHS = new Set(["width", "height"])

/** Throws, with a sentence for people, if a chart loads something or is too large to draw. */
export function checkSize(spec: Fields): void {
  let nodes = 0
  const rows = rowsIn(spec)
  /** `times`: how many rows the enclosing views make of each. */
  const walk = (value: unknown, key: string, depth: number, times: number): void => {
    if (++nodes > MAX.nodes || depth > MAX.depth) throw new Error("it is too large")
    if (typeof value === "string" && value.length > MAX.text) throw new Error("a text in it is too long")
    if (typeof value === "number") {
      if (COUNTS.has(key) && value > MAX.made) throw new Error(`${key} is too large`)
      if (LENGTHS.has(key) && value > MAX.pixels) throw new Error(`${key} is too large`)
    }
    if (typeof value !== "object" || value === null) return
    if (Array.isArray(value)) {
      if (PARTS.has(key) && value.length > MAX.repeats) throw new Error("it has too many parts")
      return value.forEach((each) => walk(each, key, depth + 1, times))
    }
    checkMade(value as Fields, key, rows)
    const { transform } = value as Fields
    const made = Array.isArray(transform) ? times * timesOf(transform, rows) : times
    if (Array.isArray(transform) && made * rows.length > MAX.made) throw new Error("it makes too many rows")
    for (const [word, inside] of Object.entries(value)) walk(inside, word, depth + 1, made)
  }
  walk(spec, "", 0, 1)
}

function checkMade(value: Fields, key: string, rows: readonly Fields[]): void {
  if (key === "data" && "url" in value) throw new Error("it fetches its data, and nothing is fetched")
  if ((key === "sequence" || key === "keyvals") && "stop" in value) checkRange(value)
  if (key === "graticule") {
    const steps = [value.step, value.stepMinor, value.stepMajor].flat().filter((step) => step !== undefined)
    if (steps.some((step) => !(Number(step) >= 0.5))) throw new Error("its grid has too many lines")
  }
  if (key === "tickCount" && /second|minute/.test(String(value.interval))) throw new Error("tickCount is too large")
  if (typeof value.field === "string" && isFields(value.bin)) checkBin(value.field, value.bin, rows)
  if (key === "repeat") {
    const times = Object.values(value).reduce(
      (product: number, list) => product * (Array.isArray(list) ? list.length : 1),
      1,
    )
    if (times > MAX.repeats) throw new Error("it is repeated too often")
  }
}

function checkRange({ start = 0, stop, step = 1 }: Fields): void {
  const made = (Number(stop) - Number(start)) / Number(step)
  if (!(made <= MAX.made)) throw new Error("it makes too many rows")
}

function checkBin(field: string, { step, extent }: Fields, rows: readonly Fields[]): void {
  if (step === undefined) return
  const numbers = Array.isArray(extent)
    ? extent.map(Number)
    : rows.map((row) => Number(row[field])).filter(Number.isFinite)
  const [least, most] = numbers.reduce(
    ([a, b], each) => [Math.min(a!, each), Math.max(b!, each)],
    [Infinity, -Infinity],
  )
  if ((most! - least!) / Number(step) > MAX.made) throw new Error("it has too many bins")
}

/**
 * The factor by which transforms multiply rows: flattening lists and folding columns, in the view and in its children.
 */
function timesOf(transforms: readonly unknown[], rows: readonly Fields[]): number {
  return transforms.filter(isFields).reduce((product: number, { flatten, fold }) => {
    const folded = Array.isArray(fold) ? Math.max(1, fold.length) : 1
    if (!Array.isArray(flatten)) return product * folded
    const lengths = rows.map((row) => Math.max(1, ...flatten.map((name) => lengthOf(row[String(name)]))))
    return product * folded * lengths.reduce((a, b) => Math.max(a, b), 1)
  }, 1)
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1)

function rowsIn(value: unknown, found: Fields[] = [], depth = 0): readonly Fields[] {
  if (typeof value !== "object" || value === null || depth > MAX.depth || found.length > MAX.nodes) return found
  for (const [key, inside] of Object.entries(value)) {
    if (key === "values" && Array.isArray(inside)) for (const row of inside) found.push(...(isFields(row) ? [row] : []))
    else rowsIn(inside, found, depth + 1)
  }
  return found
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
