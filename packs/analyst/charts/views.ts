import { chartLimits as limits } from "./limits.ts"
import { refuse } from "./problem.ts"
import type { ChartColumn } from "../chart-spec/chart-rows.ts"
import { isObject, type SpecObject } from "./text.ts"

/** Refuses a specification with too many views: layers, concatenated, repeated and faceted ones multiply. */
export function checkViews(spec: SpecObject, columns: readonly ChartColumn[]): void {
  const views = countViews(spec, columns)
  if (views === 0) refuse('there is no mark in it: say what is drawn, for example "mark": "bar"')
  const most = Math.max(limits.views, limits.facets)
  if (views > most) refuse(`it would be ${views} charts in one; ${most} are allowed`)
}

function countViews(spec: unknown, columns: readonly ChartColumn[]): number {
  if (!isObject(spec)) return 0
  const parts = ["layer", "concat", "hconcat", "vconcat"].flatMap((key) => asList(spec[key]))
  const inside =
    parts.reduce((sum: number, part) => sum + countViews(part, columns), 0) + countViews(spec.spec, columns)
  const own = "mark" in spec ? 1 : 0
  if (parts.length > limits.views) refuse(`it has ${parts.length} parts; ${limits.views} are allowed`)
  return (own + inside) * repeatsOf(spec.repeat) * facetsOf(spec, columns)
}

function repeatsOf(repeat: unknown): number {
  if (repeat === undefined) return 1
  const lists = Array.isArray(repeat) ? [repeat] : isObject(repeat) ? Object.values(repeat).map(asList) : []
  const times = lists.reduce((product: number, list) => product * list.length, 1)
  if (times > limits.repeats) refuse(`it is repeated ${times} times; ${limits.repeats} are allowed`)
  return times
}

function facetsOf({ facet, encoding }: SpecObject, columns: readonly ChartColumn[]): number {
  const channels = isObject(encoding) ? [encoding.row, encoding.column, encoding.facet] : []
  const split = isObject(facet) && !("field" in facet) ? [facet.row, facet.column] : [facet]
  return [...channels, ...split].filter(isObject).reduce((product, { field, bin, timeUnit }) => {
    if (field === undefined || isObject(field)) return product
    const column = columns.find(({ name }) => name === field)
    if (!column) return refuse(`a facet is by a column of the result; ${JSON.stringify(field)} is none`)
    const cells = bin || timeUnit ? Math.min(column.distinct, 20) : column.distinct
    if (product * cells > limits.facets) {
      refuse(`facets by ${column.name} would be ${cells} charts; ${limits.facets} are allowed: use color in its place`)
    }
    return product * Math.max(1, cells)
  }, 1)
}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
