import type { ChartColumn, ChartData } from "./chart-rows.ts"

type JsonObject = { readonly [key: string]: unknown }

/** More bars than this are no picture any more: the first of them are shown. */
const MAX_BARS = 40
const MAX_SLICES = 12
const MAX_COLOURS = 10

/**
 * A plain chart of a result, by rule and without a model: a line over time, bars by category, points of two numbers, a
 * histogram of one. The words may name another. Undefined where a table says it better.
 */
export function defaultChart({ columns, rows }: ChartData, words: string): JsonObject | undefined {
  const time = columns.find(({ kind }) => kind === "time")
  const period = columns.find(isPeriod)
  const numbers = columns.filter((column) => column.kind === "number" && column !== period)
  const texts = columns.filter(({ kind, distinct }) => (kind === "text" || kind === "boolean") && distinct > 0)
  const [value, other] = numbers
  if (!value || rows.length < 2) return undefined
  const wanted = markIn(words)
  const along = time ?? period
  if (along) {
    const color = texts.find(({ distinct }) => distinct > 1 && distinct <= MAX_COLOURS)
    const mark = wanted ?? (along.distinct > 1 ? "line" : "bar")
    return toSpec(mark === "arc" ? "bar" : mark, {
      x: time ? overTime(time) : plain(along, "ordinal"),
      y: plain(value),
      ...colored(color),
    })
  }
  const [group, second] = texts
  if (!group) return other ? toSpec("point", { x: plain(value), y: plain(other) }) : histogram(value)
  if (wanted === "arc" && group.distinct <= MAX_SLICES && (value.min ?? 0) >= 0) {
    return toSpec("arc", { theta: summed(value), color: plain(group) })
  }
  const isLong = group.distinct > 8 || group.examples.some((example) => example.length > 12)
  const [across, up] = isLong ? ["y", "x"] : ["x", "y"]
  const color = second && second.distinct <= MAX_COLOURS && second.distinct > 1 ? second : undefined
  const spec = toSpec(wanted === "line" || wanted === "area" || wanted === "point" ? wanted : "bar", {
    [across as string]: { ...plain(group), sort: null },
    [up as string]: plain(value),
    ...colored(color),
  })
  return rows.length > MAX_BARS ? { ...spec, transform: FIRST } : spec
}

const FIRST = [{ window: [{ op: "row_number", as: "row number" }] }, { filter: `datum['row number'] <= ${MAX_BARS}` }]

/** A whole number that is called a year, a month, an hour: it has an order, and no sum. */
const isPeriod = ({ name, kind }: ChartColumn): boolean =>
  kind === "number" && /^(year|quarter|month|week|day|hour|weekday)s?$/i.test(name)

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

/** Days and months are the same days everywhere: by the reader's own clock the first of March would be a day in February. */
const overTime = (column: ChartColumn): JsonObject => ({
  ...plain(column, "temporal"),
  ...(column.examples.every((example) => example.length <= "2025-01-31".length) ? { scale: { type: "utc" } } : {}),
})
const summed = (column: ChartColumn): JsonObject => ({ ...plain(column), aggregate: "sum" })
const colored = (column: ChartColumn | undefined): JsonObject => (column ? { color: plain(column) } : {})

const toSpec = (mark: Mark, encoding: JsonObject): JsonObject => ({
  mark: mark === "line" ? { type: "line", point: true } : { type: mark },
  encoding,
})

const histogram = (column: ChartColumn): JsonObject =>
  toSpec("bar", { x: { ...plain(column), bin: { maxbins: 20 } }, y: { aggregate: "count", type: "quantitative" } })
