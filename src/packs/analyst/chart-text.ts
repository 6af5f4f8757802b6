import { chartLimits } from "./chart-limits.ts"

export type JsonObject = { readonly [key: string]: unknown }

export type ReadSpec = { readonly spec: JsonObject } | { readonly problem: string }

/** A chart out of what a model wrote: JSON, perhaps between fences or with words around it. */
export function readChartText(text: string): ReadSpec {
  const json = (/```[a-z-]*\s*\n(?<inside>[\s\S]*?)```/i.exec(text)?.groups?.inside ?? outermost(text)).trim()
  if (json === "") return { problem: "there is no JSON object in it; answer with the specification alone" }
  if (json.length > chartLimits.bytes) {
    return { problem: `it is longer than ${chartLimits.bytes} characters; leave out the data, it is put in for you` }
  }
  try {
    const spec: unknown = JSON.parse(json)
    if (isObject(spec)) return { spec }
    return { problem: "it is not a JSON object; answer with one Vega-Lite specification" }
  } catch (error) {
    return { problem: `it is not valid JSON (${(error as Error).message.slice(0, 200)})` }
  }
}

function outermost(text: string): string {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")]
  return from >= 0 && to > from ? text.slice(from, to + 1) : ""
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
