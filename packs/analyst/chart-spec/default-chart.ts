import type { ChartColumn, ChartData } from "./chart-rows.ts"
import { rolesOf } from "./column-roles.ts"

type JsonObject = { readonly [key: string]: unknown }

/** More bars are hard to read: only the first ones are shown. */
const MAX_BARS = 40
const MAX_SLICES = 12
const MAX_COLOURS = 10

/**
 * Creates a simple chart of a result by rules, without a model: a line over time, bars by category, points of two
 * numbers, a histogram of one. The request may name another type. Undefined if a table is better.
 */
export function defaultChart({ columns, rows }: ChartData, words: string): JsonObject | undefined {
  const { along, values, groups } = rolesOf(columns)
  const [value, other] = values
  if (!value || rows.length < 2) return undefined
  const wanted = markIn(words)
  if (along) {
    const color = groups.find(({ kind, distinct }) => kind !== "number" && distinct > 1 && distinct <= MAX_COLOURS)
    const mark = wanted ?? (along.distinct > 1 ? "line" : "bar")
    return toSpec(mark === "arc" ? "bar" : mark, {
      x: along.kind === "time" ? overTime(along) : plain(along, "ordinal"),
      y: plain(value),
      ...colored(color),
    })
  }
  const [group, second] = groups
  if (!group) return other ? toSpec("point", { x: plain(value), y: plain(other) }) : histogram(value)
  if (wanted === "arc" && group.distinct <= MAX_SLICES && (value.min ?? 0) >= 0) {
    return toSpec("arc", { theta: summed(value), color: named(group) })
  }
  const isLong = group.distinct > 8 || group.examples.some((example) => example.length > 12)
  const [across, up] = isLong ? ["y", "x"] : ["x", "y"]
  const color = second && second.distinct <= MAX_COLOURS && second.distinct > 1 ? second : undefined
  const spec = toSpec(wanted === "line" || wanted === "area" || wanted === "point" ? wanted : "bar", {
    [across as string]: { ...named(group), sort: null },
    [up as string]: plain(value),
    ...colored(color),
  })
  if (group.distinct <= MAX_BARS) return spec
  const title = `The first ${MAX_BARS} of ${group.distinct}`
  return { ...spec, title, transform: firstOf(group, group.distinct === rows.length) }
}

const PLACE = "place in line"

/** The rows of the first names. All rows of a name are included, otherwise its bar would be too short. */
const firstOf = ({ name }: ChartColumn, isOneEach: boolean): readonly JsonObject[] => [
  isOneEach
    ? { window: [{ op: "row_number", as: PLACE }] }
    : { window: [{ op: "dense_rank", as: PLACE }], sort: [{ field: name }] },
  { filter: `datum['${PLACE}'] <= ${MAX_BARS}` },
]

type Mark = "bar" | "line" | "area" | "point" | "arc"

function markIn(words: string): Mark | undefined {
  if (/\b(pie|donut|doughnut|slices?)\b/i.test(words)) return "arc"
  if (/\b(lines?|trend|curve)\b/i.test(words)) return "line"
  if (/\barea\b/i.test(words)) return "area"
  if (/\b(scatter|points?|dots?)\b/i.test(words)) return "point"
  return /\b(bars?|columns?)\b/i.test(words) ? "bar" : undefined
}

const TYPES = { number: "quantitative", time: "temporal", text: "nominal", boolean: "nominal" } as const

const plain = ({ name, kind }: ChartColumn, type: string = TYPES[kind]): JsonObject => ({ field: name, type })
/** A group is a name even if its values are digits. */
const named = (column: ChartColumn): JsonObject => plain(column, "nominal")

/** Draws days and months in UTC: in the reader's time zone 1 March could be a day in February. */
const overTime = (column: ChartColumn): JsonObject => ({
  ...plain(column, "temporal"),
  ...(column.examples.every((example) => example.length <= "2025-01-31".length) ? { scale: { type: "utc" } } : {}),
})
const summed = (column: ChartColumn): JsonObject => ({ ...plain(column), aggregate: "sum" })
const colored = (column: ChartColumn | undefined): JsonObject => (column ? { color: named(column) } : {})

const toSpec = (mark: Mark, encoding: JsonObject): JsonObject => ({
  mark: mark === "line" ? { type: "line", point: true } : { type: mark },
  encoding,
})

const histogram = (column: ChartColumn): JsonObject =>
  toSpec("bar", { x: { ...plain(column), bin: { maxbins: 20 } }, y: { aggregate: "count", type: "quantitative" } })
