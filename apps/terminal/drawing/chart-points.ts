import { own } from "../../../core/shared/text/json.ts"

/** A chart that a terminal can draw: one value for each position, in one or more series. */
export interface ChartPoints {
  readonly mark: "bars" | "line" | "area" | "points"
  readonly title: string
  readonly points: readonly Point[]
  /** The names of the positions in order, or the first and last number. */
  readonly along: { readonly names: readonly string[] } | { readonly from: string; readonly to: string }
}

export interface Point {
  readonly name: string
  /** Its position on the axis. */
  readonly at: number
  readonly value: number
  readonly series: string
}

type Fields = Readonly<Record<string, unknown>>

const MARKS: Readonly<Record<string, ChartPoints["mark"]>> = {
  ...{ bar: "bars", arc: "bars", tick: "points", line: "line", trail: "line", area: "area" },
  ...{ point: "points", circle: "points", square: "points" },
}

/** Reads a simple Vega-Lite specification. Returns undefined for a complex one, which is then shown as its rows. */
export function chartPoints(spec: Fields): ChartPoints | undefined {
  const unit = unitOf(spec)
  const rows =
    isFields(spec.data) && Array.isArray(spec.data.values) ? (spec.data.values as unknown[]).filter(isFields) : []
  const mark = unit && markOf(unit)
  if (!unit || !mark || rows.length === 0 || "transform" in spec || "transform" in unit) return undefined
  const { place, value, series } = channelsOf(unit.encoding)
  if (!place || !value || place.bin || place.timeUnit || place.aggregate || value.bin) return undefined
  const data = summed(rows, { place: String(place.field), value, series: series ? String(series.field) : undefined })
  if (!data || data.length === 0) return undefined
  const title = isFields(spec.title) ? spec.title.text : spec.title
  return { mark, title: typeof title === "string" ? title : "", ...positioned(data, String(place.type)) }
}

const markOf = ({ mark }: Fields) => own(MARKS, String(isFields(mark) ? mark.type : mark))

/** The specification itself, or its first layer that can be drawn. */
function unitOf(spec: Fields): (Fields & { encoding: Fields }) | undefined {
  const outer = isFields(spec.encoding) ? spec.encoding : {}
  const layers = Array.isArray(spec.layer) ? (spec.layer as unknown[]).filter(isFields) : [spec]
  const found = layers.find(markOf)
  return found && { ...found, encoding: { ...outer, ...(isFields(found.encoding) ? found.encoding : {}) } }
}

interface Channels {
  readonly place: Fields | undefined
  readonly value: Fields | undefined
  readonly series: Fields | undefined
}

function channelsOf({ x, y, theta, color, ...rest }: Fields): Channels {
  const [across, up, angle, tint] = [x, y, theta, color].map((each) => (isFields(each) ? each : undefined))
  // Facets and ranges cannot be drawn in characters.
  if (["row", "column", "facet", "x2", "y2"].some((channel) => channel in rest))
    return { place: undefined, value: undefined, series: undefined }
  if (angle) return { place: named(tint), value: angle, series: undefined }
  const isLying = isNumber(across) && !isNumber(up)
  return { place: named(isLying ? up : across), value: isLying ? across : up, series: named(tint) }
}

const isNumber = (channel: Fields | undefined): boolean =>
  channel !== undefined && (channel.type === "quantitative" || typeof channel.aggregate === "string")
const named = (channel: Fields | undefined): Fields | undefined =>
  typeof channel?.field === "string" ? channel : undefined

interface Reading {
  readonly place: string
  readonly value: Fields
  readonly series: string | undefined
}

interface Datum {
  readonly place: unknown
  readonly series: string
  readonly value: number
}

function summed(rows: readonly Fields[], { place, value, series }: Reading): Datum[] | undefined {
  const { field, aggregate } = value
  const groups = new Map<string, { place: unknown; series: string; values: number[] }>()
  for (const [at, row] of rows.entries()) {
    const number = aggregate === "count" ? 1 : row[String(field)]
    if (typeof number !== "number" || !Number.isFinite(number) || row[place] === null) continue
    const name = series === undefined || series === place ? "" : String(row[series])
    const key = JSON.stringify([row[place], name, aggregate === undefined ? at : ""])
    const group = groups.get(key) ?? { place: row[place], series: name, values: [] }
    group.values.push(number)
    groups.set(key, group)
  }
  const combined = [...groups.values()].map((group) => ({ ...group, value: combine(aggregate, group.values) }))
  return combined.every(({ value: each }) => each !== undefined) ? (combined as Datum[]) : undefined
}

function combine(aggregate: unknown, values: readonly number[]): number | undefined {
  const sum = values.reduce((a, b) => a + b, 0)
  if (aggregate === undefined) return values[0]
  if (aggregate === "sum" || aggregate === "count") return sum
  if (aggregate === "mean" || aggregate === "average") return sum / values.length
  if (aggregate === "min") return values.reduce((a, b) => Math.min(a, b))
  return aggregate === "max" ? values.reduce((a, b) => Math.max(a, b)) : undefined
}

/** Orders the points by number or time if they have one, else as they come. */
function positioned(data: readonly Datum[], type: string): Pick<ChartPoints, "points" | "along"> {
  const toNumber = (place: unknown) =>
    type === "temporal" ? Date.parse(String(place)) : type === "quantitative" ? Number(place) : Number.NaN
  const names = [...new Set(data.map(({ place }) => String(place)))]
  const isMeasured = data.every(({ place }) => Number.isFinite(toNumber(place)))
  const points = data.map(({ place, ...rest }) => ({
    ...rest,
    name: String(place),
    at: isMeasured ? toNumber(place) : names.indexOf(String(place)),
  }))
  points.sort((a, b) => (isMeasured ? a.at - b.at : 0))
  return { points, along: isMeasured ? { from: points[0]?.name ?? "", to: points.at(-1)?.name ?? "" } : { names } }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
