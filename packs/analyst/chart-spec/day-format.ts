import type { ChartData } from "./chart-rows.ts"

type JsonObject = { readonly [key: string]: unknown }

/** The d3 format of a text, by its length. */
const READ: Readonly<Record<number, string>> = { 7: "date:'%Y-%m'", 10: "date:'%Y-%m-%d'" }
/** Matches a chart that already uses UTC: dates parsed as UTC are correct there. */
const IN_UTC = /"(?:type|timeUnit|unit)":"utc|"utc":true|\butc[a-z]*\(/

/**
 * How Vega-Lite parses days and months in a chart that a model wrote. JavaScript reads `2025-03-01` as midnight UTC,
 * but a chart uses the reader's time zone: further west it would be a day of February.
 */
export function dayFormat(spec: JsonObject, { columns, rows }: ChartData): { readonly format?: JsonObject } {
  const times = columns.filter(({ name, kind }) => kind === "time" && isTemporal(spec, name))
  if (times.length === 0 || IN_UTC.test(JSON.stringify(spec))) return {}
  const parse = times.flatMap(({ name }) => {
    const [length = 0, ...others] = new Set(rows.flatMap((row) => (row[name] === null ? [] : String(row[name]).length)))
    return others.length === 0 && READ[length] ? [[name, READ[length]]] : []
  })
  return parse.length === 0 ? {} : { format: { parse: Object.fromEntries(parse) as JsonObject } }
}

/** True if any part of the chart draws the column as a time. As a name it stays as written. */
function isTemporal(value: unknown, name: string): boolean {
  if (typeof value !== "object" || value === null) return false
  const { field, type, timeUnit } = value as JsonObject
  if (field === name && (type === "temporal" || timeUnit !== undefined)) return true
  return Object.values(value).some((inside) => isTemporal(inside, name))
}
