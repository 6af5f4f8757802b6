import { measured } from "./measure.ts"
import { expressionFunction, parse, View } from "vega"
import { expressionInterpreter } from "vega-interpreter"
import { compile } from "vega-lite"
import { checkSize } from "./draw-limits.ts"
import { hasTightLabels, type Scene } from "./label-room.ts"
import { toLocale } from "./locale.ts"
import { withPieValues } from "./pie-values.ts"
import { readSeparated } from "./read-separated.ts"
import { toTheme } from "./theme.ts"

/**
 * Draws a chart to text, in a thread that is stopped when it takes too long. No eval, no document, no network: what a chart
 * says is walked through by an interpreter, under a policy that would let nothing else run.
 */
measured()
readSeparated()

export interface Job {
  readonly spec: Readonly<Record<string, unknown>>
  readonly dark: boolean
  readonly width: number
}

export type Drawn = { readonly svg: string; readonly marks: number } | { readonly failed: string }

onmessage = ({ data }: MessageEvent<Job>) => {
  const answer = (drawn: Drawn) => postMessage(drawn)
  draw(data).then(answer, (error: unknown) =>
    answer({ failed: String((error as Error)?.message ?? error).slice(0, 300) }),
  )
}

async function draw({ spec: { usermeta: _, ...spec }, dark, width }: Job): Promise<Drawn> {
  checkSize(spec)
  const fitted = fit(withPieValues(spec), width)
  const { isTight, ...upright } = await drawAt(0, fitted, dark)
  // Names stand upright where there is room for them, and lean where there is not.
  if (!isTight) return upright
  const { svg, marks } = await drawAt(LEANING, fitted, dark)
  return { svg, marks }
}

interface Picture {
  readonly svg: string
  readonly marks: number
  readonly isTight: boolean
}

const LEANING = -40
const locale = toLocale(navigator.language)

async function drawAt(labelAngle: number, spec: Job["spec"], dark: boolean): Promise<Picture> {
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

/** One chart takes the width there is; charts side by side have widths of their own, and are shown smaller. */
function fit(spec: Job["spec"], width: number): Job["spec"] {
  const isOne = "mark" in spec || "layer" in spec
  const encoding = (spec.encoding ?? {}) as Record<string, unknown>
  if (!isOne || typeof spec.width === "number" || "row" in encoding || "column" in encoding || "facet" in encoding)
    return spec
  if (typeof spec.width === "object") return spec
  return { ...spec, width: Math.max(160, width - 2), autosize: { type: "fit-x", contains: "padding" } }
}

/** Fetches nothing and lets no address through, be it of a picture, a link or a file. */
const refuse = () => Promise.reject(new Error("nothing is fetched"))
const nobody = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} }

const silent = { level: () => silent, error: () => silent, warn: () => silent, info: () => silent, debug: () => silent }

/** How many marks of the data are in it: a picture of axes alone is none. */
function countMarks({ role, marktype, items = [] }: Scene): number {
  const own = role === "mark" && marktype !== "group" ? items.length : 0
  return items.reduce((sum, item) => sum + countMarks(item), own)
}

/** Functions that make something as long as they are told to. */
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
