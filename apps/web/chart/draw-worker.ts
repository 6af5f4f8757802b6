import { View, expressionFunction, parse } from "vega"
import * as vega from "vega"
import { expressionInterpreter } from "vega-interpreter"
import { compile } from "vega-lite"
import { checkSize } from "./draw-limits.ts"
import { measured } from "./disable-canvas.ts"
import { toLocale, toTheme } from "./theme.ts"

/**
 * Draws a chart to SVG text in a worker, which is stopped when it takes too long. Without eval, document or network: an
 * interpreter evaluates the expressions of the chart, because the policy forbids compiled code.
 */
measured()
readSeparated()

export interface Job {
  readonly spec: Readonly<Record<string, unknown>>
  readonly dark: boolean
  readonly width: number
  readonly locale?: string
}

export type Drawn = { readonly svg: string; readonly marks: number } | { readonly failed: string }

onmessage = ({ data }: MessageEvent<Job>) => {
  const answer = (drawn: Drawn) => postMessage(drawn)
  draw(data).then(answer, (error: unknown) =>
    answer({ failed: String((error as Error)?.message ?? error).slice(0, 300) }),
  )
}

async function draw({ spec: { usermeta: _, ...spec }, dark, width, locale }: Job): Promise<Drawn> {
  checkSize(spec)
  const look = { dark, locale: toLocale(locale ?? navigator.language) }
  const fitted = fit(withPieValues(spec), width)
  const { isTight, ...upright } = await drawAt(0, fitted, look)
  // Axis labels are horizontal if there is room, otherwise rotated.
  if (!isTight) return upright
  const { svg, marks } = await drawAt(LABEL_ANGLE, fitted, look)
  return { svg, marks }
}

interface Picture {
  readonly svg: string
  readonly marks: number
  readonly isTight: boolean
}

const LABEL_ANGLE = -40

interface Look {
  readonly dark: boolean
  readonly locale: ReturnType<typeof toLocale>
}

async function drawAt(labelAngle: number, spec: Job["spec"], { dark, locale }: Look): Promise<Picture> {
  const { spec: compiled } = compile(spec as never, {
    config: { ...toTheme(dark), axisXDiscrete: { labelAngle } } as never,
    logger: silent as never,
  })
  checkSize(compiled as never)
  const runtime = parse(compiled, undefined, { ast: true })
  const view = new View(runtime, {
    expr: expressionInterpreter,
    renderer: "none",
    loader: nobody,
    logger: silent,
    locale,
  } as never)
  try {
    await view.runAsync()
    const svg = await view.toSVG()
    const { root } = view.scenegraph() as unknown as { root: Scene }
    return { svg, marks: countMarks(root), isTight: hasTightLabels(root) }
  } finally {
    view.finalize()
  }
}

/** A single chart gets the available width; side-by-side charts have their own widths and are scaled down. */
function fit(spec: Job["spec"], width: number): Job["spec"] {
  const isOne = "mark" in spec || "layer" in spec
  const encoding = (spec.encoding ?? {}) as Record<string, unknown>
  if (!isOne || typeof spec.width === "number" || "row" in encoding || "column" in encoding || "facet" in encoding)
    return spec
  if (typeof spec.width === "object") return spec
  return { ...spec, width: Math.max(160, width - 2), autosize: { type: "fit-x", contains: "padding" } }
}

/** Loads nothing, and accepts no address of an image, link or file. */
const refuse = () => Promise.reject(new Error("nothing is fetched"))
const nobody = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} }

const silent = { level: () => silent, error: () => silent, warn: () => silent, info: () => silent, debug: () => silent }

/** The number of data marks in the drawing: axes alone are not a chart. */
function countMarks({ role, marktype, items = [] }: Scene): number {
  const own = role === "mark" && marktype !== "group" ? items.length : 0
  return items.reduce((sum, item) => sum + countMarks(item), own)
}

/** Functions that produce output of any requested length. */
const MAX = 100_000
function bound(name: string, lengthOf: (...given: number[]) => number): void {
  const own = expressionFunction(name) as unknown as (...given: unknown[]) => unknown
  expressionFunction(name, (...given: unknown[]) => {
    if (!(lengthOf(...given.map(Number)) <= MAX)) throw new Error(`${name} would make too much`)
    return own(...given)
  })
}
bound("sequence", (a, b, step) => (b === undefined ? a! : (b - a!) / (step ?? 1)))
bound("pad", (_, length) => length!)
for (const name of ["timeSequence", "utcSequence"]) bound(name, (_, from, to) => (to! - from!) / 3_600_000)

/** An item of Vega's scene graph. */
interface Scene {
  readonly role?: string
  readonly marktype?: string
  readonly orient?: string
  readonly text?: unknown
  readonly opacity?: number
  readonly bounds?: { readonly x1: number; readonly x2: number }
  readonly items?: readonly Scene[]
}

/** Between two labels. */
const GAP = 4

/** Whether horizontal axis labels overlap. */
function hasTightLabels({ role, items = [] }: Scene): boolean {
  if (role === "axis-label") return areTight(items)
  return items.some(hasTightLabels)
}

function areTight(labels: readonly Scene[]): boolean {
  const spans = labels
    .filter(({ text, opacity, bounds }) => typeof text === "string" && text !== "" && opacity !== 0 && bounds)
    .map(({ bounds }) => bounds as { readonly x1: number; readonly x2: number })
    .toSorted((a, b) => a.x1 - b.x1)
  // The labels of a vertical axis all start at the same side.
  const isUp = spans.length > 1 && Math.abs((spans[0]?.x2 ?? 0) - (spans.at(-1)?.x2 ?? 0)) < 2
  return !isUp && spans.some(({ x1 }, at) => at > 0 && x1 < (spans[at - 1]?.x2 ?? 0) + GAP)
}

type Fields = Readonly<Record<string, unknown>>

const VALUE = "value of slice"
const SHARE = "share of slice"
const WORDS = "words of slice"
/** Thinner slices get no label; the tooltip and the table have the value. */
const THINNEST = 0.03
const RADIUS = 110

/** Adds values next to the slices of a simple pie chart. A chart with more settings is left unchanged. */
function withPieValues(spec: Fields): Fields {
  const { mark, encoding, transform = [], ...rest } = spec
  const drawn = isFields(mark) ? mark : { type: mark }
  if (drawn.type !== "arc" || !isFields(encoding) || !Array.isArray(transform)) return spec
  const { theta, color, ...more } = encoding
  if (
    !isFields(theta) ||
    !isPlain(color) ||
    Object.keys(more).some((channel) => channel !== "tooltip" && channel !== "order")
  )
    return spec
  const { aggregate = "sum", field } = theta
  if (!(typeof field === "string" || aggregate === "count") || !OPERATIONS.has(String(aggregate))) return spec
  const counted = typeof field === "string" ? { field } : {}
  const title = theta.title ?? (typeof field === "string" ? field : "count")
  return {
    ...rest,
    height: rest.height ?? 2 * RADIUS + 130,
    transform: [
      ...(transform as unknown[]),
      { aggregate: [{ op: aggregate, ...counted, as: VALUE }], groupby: [color.field] },
      { joinaggregate: [{ op: "sum", field: VALUE, as: SHARE }] },
      { calculate: `datum['${VALUE}'] / datum['${SHARE}']`, as: SHARE },
      { calculate: `datum['${SHARE}'] < ${THINNEST} ? '' : ${TOLD}`, as: WORDS },
    ],
    encoding: {
      theta: { field: VALUE, type: "quantitative", stack: true, title },
      // Slices and labels need the same order.
      order: { field: VALUE, type: "quantitative", sort: "descending", title },
    },
    layer: [
      {
        mark: { ...drawn, outerRadius: RADIUS, ...(drawn.innerRadius ? { innerRadius: RADIUS * 0.55 } : {}) },
        encoding: { color },
      },
      {
        mark: { type: "text", radius: RADIUS + 46, fontSize: 11, aria: false },
        encoding: { text: { field: WORDS, type: "nominal" }, detail: { field: color.field, type: "nominal" } },
      },
    ],
  }
}

const TOLD = `format(datum['${VALUE}'], ',~f') + ' (' + format(datum['${SHARE}'], '.0%') + ')'`
const OPERATIONS = new Set(["sum", "count", "mean", "average", "median", "min", "max", "distinct"])

const isPlain = (color: unknown): color is Fields & { field: string } =>
  isFields(color) &&
  typeof color.field === "string" &&
  !color.bin &&
  !color.timeUnit &&
  !color.aggregate &&
  !color.condition

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces Vega's parser for CSV and TSV: it compiles code for each table, which the policy of the frame forbids. */
function readSeparated(): void {
  // Missing in Vega's types.
  const { formats } = vega as unknown as { formats(name: string, reader: unknown): void }
  const reader =
    (own?: string) =>
    (text: unknown, format?: { readonly delimiter?: string; readonly header?: readonly string[] }) => {
      const [first = [], ...rest] = toCells(String(text), own ?? format?.delimiter ?? ",")
      const [names, rows] = format?.header ? [format.header, [first, ...rest]] : [first, rest]
      return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])))
    }
  formats("csv", reader(","))
  formats("tsv", reader("\t"))
  formats("dsv", reader())
}

/** RFC 4180: a quoted cell may contain separators and doubled quotation marks. */
function toCells(text: string, delimiter: string): string[][] {
  const rows: string[][] = [[]]
  let [cell, isQuoted] = ["", false]
  const end = () => void (rows.at(-1)?.push(cell), (cell = ""))
  for (let at = 0; at < text.length; at++) {
    const [letter, next] = [text[at] as string, text[at + 1]]
    if (isQuoted && letter === '"' && next === '"') cell += text[++at]
    else if (letter === '"') isQuoted = !isQuoted
    else if (isQuoted) cell += letter
    else if (letter === delimiter) end()
    else if (letter === "\n") {
      end()
      rows.push([])
    } else if (letter !== "\r") cell += letter
  }
  end()
  return rows.filter((row) => row.length > 1 || row[0] !== "")
}
