import { chartLimits as limits } from "./limits.ts"
import { specPath, refuse } from "./problem.ts"
import type { ChartColumn } from "../chart-spec/chart-rows.ts"
import type { Path } from "./rules.ts"
import { isObject, type SpecObject } from "./text.ts"

export interface Columns {
  readonly ofResult: ReadonlyMap<string, ChartColumn>
  /** Columns that transforms create. Their types are unknown. */
  readonly made: ReadonlySet<string>
}

const TYPES = { number: "quantitative", time: "temporal", text: "nominal", boolean: "nominal" } as const
/** Aggregates that work for values of any type. */
const COUNTING = new Set(["count", "distinct", "valid", "missing", "values", "argmin", "argmax"])

/** Checks that every field exists and has a suitable type. Returns the spec with explicit types. */
export function withFields(spec: SpecObject, columns: Columns): SpecObject {
  let fields = 0
  const look = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((each, at) => look(each, [...path, at]))
    if (!isObject(value)) return value
    const seen = Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, look(inside, [...path, key])]))
    if (value.aggregate === "count") fields++
    if (path.at(-1) === "repeat" || path.at(-2) === "repeat") return seen
    if (typeof value.field !== "string") return checkNoField(value, seen, path)
    fields++
    return withType(seen, path, columns)
  }
  const checked = look(spec, []) as SpecObject
  fields += checkRepeat(spec.repeat, columns)
  if (fields === 0) refuse('nothing in it is taken from the result: encode a column, for example "x": {"field": …}')
  return checked
}

function checkNoField(value: SpecObject, seen: SpecObject, path: Path): SpecObject {
  if (value.field !== undefined && !(isObject(value.field) && "repeat" in value.field)) {
    refuse(`${specPath(path)}.field must be the name of a column`)
  }
  return seen
}

function withType(definition: SpecObject, path: Path, { ofResult, made }: Columns): SpecObject {
  const { field, type, aggregate, bin, timeUnit } = definition as SpecObject & { field: string }
  if (made.has(field)) {
    if (isObject(bin) && bin.step !== undefined) refuse(`write maxbins in place of step at ${specPath(path)}.bin`)
    return definition
  }
  const column = ofResult.get(field)
  if (!column)
    return refuse(
      `there is no column ${JSON.stringify(field)} (at ${specPath(path)}); there are ${[...ofResult.keys()].map((name) => JSON.stringify(name)).join(", ")}`,
    )
  if (bin) checkBin(bin, column, path)
  if (timeUnit && !isTemporal(column)) refuse(`${specPath(path)}: ${holds(column)}, which has no timeUnit`)
  if (typeof aggregate === "string" && !COUNTING.has(aggregate)) checkAggregate(aggregate, column, path)
  else if (typeof type === "string" && !aggregate) checkType(type, column, path)
  const isPlain = !aggregate && !bin && !timeUnit && type === undefined
  return isPlain && takesType(path) ? { ...definition, type: TYPES[column.kind] } : definition
}

/** True for a channel, or a conditional value of it. The second end of a range has the type of the first. */
function takesType(path: Path): boolean {
  const [outer, channel] = path.slice(-2)
  if (outer === "encoding") return !/2$|Error/.test(String(channel))
  return channel === "condition" || (outer === "condition" && typeof channel === "number")
}

const holds = ({ name, kind, examples }: ChartColumn): string =>
  `"${name}" holds ${kind === "boolean" ? "yes or no" : `${kind === "time" ? "dates" : kind === "number" ? "numbers" : "text"} such as ${examples.map((each) => JSON.stringify(each)).join(", ") || "nothing"}`}`

/** A small number cannot be a time: it is read as milliseconds since 1970, so the year 2019 would be two seconds. */
const isTemporal = ({ kind, min = 0 }: ChartColumn): boolean => kind === "time" || (kind === "number" && min > 1e11)

function checkType(type: string, column: ChartColumn, path: Path): void {
  const { kind } = column
  if (type === "quantitative" && kind !== "number") {
    refuse(
      `${specPath(path)}: ${holds(column)}, which is not quantitative; use ${TYPES[kind]}, or count it with "aggregate": "count"`,
    )
  }
  if (type === "temporal" && !isTemporal(column)) {
    refuse(
      `${specPath(path)}: ${holds(column)}, which is not temporal; use ${kind === "number" ? "ordinal or quantitative" : "nominal"}, or make a date of it in SQL (2024-01-31)`,
    )
  }
  if (type === "geojson") refuse(`${specPath(path)}: maps are not drawn`)
}

function checkAggregate(aggregate: string, column: ChartColumn, path: Path): void {
  const ordered = aggregate === "min" || aggregate === "max"
  if (column.kind === "number" || (ordered && column.kind === "time")) return
  refuse(`${specPath(path)}: ${holds(column)}, which has no ${aggregate}; count it with "aggregate": "count"`)
}

function checkBin(bin: unknown, column: ChartColumn, path: Path): void {
  if (column.kind !== "number") refuse(`${specPath(path)}: ${holds(column)}, which has no bins`)
  if (!isObject(bin) || bin.step === undefined) return
  const [from, to] = Array.isArray(bin.extent) ? (bin.extent as number[]) : [column.min, column.max]
  const bins = ((to ?? 0) - (from ?? 0)) / (bin.step as number)
  if (!(bins >= 0 && bins <= limits.bins))
    refuse(`${specPath(path)}.bin.step would be ${Math.ceil(bins)} bins; ${limits.bins} are allowed`)
}

function checkRepeat(repeat: unknown, { ofResult, made }: Columns): number {
  const lists = Array.isArray(repeat) ? [repeat] : isObject(repeat) ? Object.values(repeat) : []
  const names = lists.flat() as unknown[]
  for (const name of names) {
    if (typeof name !== "string" || !(ofResult.has(name) || made.has(name)))
      refuse(`there is no column ${JSON.stringify(name)}, which repeat names`)
  }
  return names.length
}
