import { chartLimits as limits } from "./limits.ts"
import { specPath, refuse } from "./problem.ts"
import type { Path } from "./rules.ts"
import { MAX_CHART_ROWS, type ChartColumn } from "../chart-spec/chart-rows.ts"
import { isObject, type SpecObject } from "./text.ts"
import { asList } from "./views.ts"
import { own } from "../../../core/program.ts"

interface Kind {
  /** The properties that name columns, as a text or a list. */
  readonly reads: readonly string[]
  /** The columns that it creates by default. */
  readonly makes?: readonly string[]
}

/**
 * The allowed transforms, by the property that identifies them. Those that load data are missing; those that add rows
 * are counted.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  filter: { reads: [] },
  calculate: { reads: [] },
  aggregate: { reads: ["groupby"] },
  joinaggregate: { reads: ["groupby"] },
  bin: { reads: ["field"] },
  timeUnit: { reads: ["field"] },
  fold: { reads: ["fold"], makes: ["key", "value"] },
  window: { reads: ["groupby"] },
  stack: { reads: ["stack", "groupby"] },
  impute: { reads: ["impute", "key", "groupby"] },
  density: { reads: ["density", "groupby"], makes: ["value", "density"] },
  regression: { reads: ["regression", "on", "groupby"], makes: ["rSquared", "coef"] },
  loess: { reads: ["loess", "on", "groupby"] },
  quantile: { reads: ["quantile", "groupby"], makes: ["prob", "value"] },
  sample: { reads: [] },
}

/** Checks all transforms in a specification; returns the columns that they create. */
export function checkTransforms(spec: SpecObject, columns: ReadonlyMap<string, ChartColumn>): Set<string> {
  const all = transformsIn(spec, [])
  if (all.length > limits.transforms) refuse(`it has ${all.length} transforms; ${limits.transforms} are allowed`)
  const made = new Set<string>()
  for (const { transform, path } of all) for (const name of madeBy(transform, path)) made.add(name)
  for (const { transform, path } of all) checkReads(transform, path, (name) => columns.has(name) || made.has(name))
  checkMadeRows(all, columns)
  return made
}

/**
 * Limits the rows that transforms create, because a browser holds all of them at once, and several transforms multiply
 * them. Transforms of a view run before those of the views in it.
 */
function checkMadeRows(all: readonly Placed[], columns: ReadonlyMap<string, ChartColumn>): void {
  const values = new Map([...columns].map(([name, { distinct }]) => [name, distinct]))
  let rows = MAX_CHART_ROWS
  for (const { transform, path } of all.toSorted((a, b) => a.path.length - b.path.length)) {
    const {
      fold,
      as,
      impute,
      key,
      keyvals,
      density,
      quantile,
      steps,
      minsteps = 0,
      maxsteps,
      step,
      groupby,
    } = transform
    // There are at most as many groups as rows.
    const valuesOf = (names: unknown) =>
      (Array.isArray(names) ? (names as unknown[]) : [names]).reduce((product: number, name) => {
        if (typeof name !== "string") return product
        return Math.min(rows, product * Math.max(1, values.get(name) ?? rows))
      }, 1)
    const each = impute
      ? valuesOf(key) + asList(keyvals).length
      : density
        ? Math.max(Number(steps ?? maxsteps ?? MOST_STEPS), Number(minsteps))
        : quantile
          ? 1 / Number(step ?? QUANTILE_STEP)
          : 0
    const folded = asList(fold).length
    if (folded > 0) values.set(String(asList(as)[0] ?? "key"), folded)
    const made = Math.max(rows * Math.max(1, folded), each * valuesOf(groupby))
    // Also true for NaN.
    if (!(made <= limits.rows)) refuse(`${specPath(path)} would make too many rows; do it in SQL`)
    rows = made
  }
}

/** Vega's default for a transform without `maxbins`. */
const MOST_STEPS = 200
const QUANTILE_STEP = 0.01

interface Placed {
  readonly transform: SpecObject
  readonly path: Path
}

function transformsIn(value: unknown, path: Path): Placed[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => transformsIn(each, [...path, at]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inside]) => {
    if (key !== "transform") return transformsIn(inside, [...path, key])
    const list = asList(inside)
    return list.filter(isObject).map((transform, at) => ({ transform, path: [...path, key, at] }))
  })
}

const kindOf = (transform: SpecObject): string | undefined => Object.keys(KINDS).find((word) => word in transform)

function madeBy(transform: SpecObject, path: Path): string[] {
  const kind = kindOf(transform)
  if (!kind) {
    const words = Object.keys(transform).join(", ") || "nothing"
    return refuse(
      `${specPath(path)} (${words}) is none of the transforms that may be used: ${Object.keys(KINDS).join(", ")}; do it in SQL`,
    )
  }
  if (kind === "fold" && asList(transform.fold).length > 50) refuse(`${specPath(path)} folds more than 50 columns`)
  if (kind === "impute" && isObject(transform.keyvals)) refuse(`write ${specPath(path)}.keyvals as a list`)
  if (kind === "quantile" && typeof transform.step === "number" && !(transform.step >= 0.001))
    refuse(`${specPath(path)}.step must be at least 0.001`)
  const inside = [kind, "ops", "fields"].flatMap((word) => asList(transform[word])).filter(isObject)
  const names = [transform.as, ...inside.map(({ as }) => as)].flatMap((as) =>
    Array.isArray(as) ? (as as unknown[]) : [as],
  )
  const created = names.filter((name): name is string => typeof name === "string")
  const odd = created.find(
    (name) => !/^[\p{L}\p{N}_ %()*/+-]{1,100}$/u.test(name) || name.startsWith("__") || name in Object.prototype,
  )
  if (odd !== undefined)
    refuse(`the name ${JSON.stringify(odd)} in ${specPath(path)}.as may hold letters, digits, spaces and _`)
  // A bin has a second column for its end, which Vega-Lite names after the first.
  return [...created, ...created.map((name) => `${name}_end`), ...(own(KINDS, kind)?.makes ?? [])]
}

function checkReads(transform: SpecObject, path: Path, isKnown: (name: string) => boolean): void {
  const kind = kindOf(transform)
  for (const word of kind ? (own(KINDS, kind)?.reads ?? []) : []) {
    const value = transform[word]
    for (const name of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof name === "string" && !isKnown(name))
        refuse(`there is no column ${JSON.stringify(name)}, which ${specPath(path)}.${word} names`)
    }
  }
}
