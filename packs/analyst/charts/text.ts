import { chartLimits } from "./limits.ts"
import { readJson } from "../../../core/program.ts"

export type SpecObject = { readonly [key: string]: unknown }

export type ReadSpec = { readonly spec: SpecObject } | { readonly problem: string }

/** Parses a chart in a model's text: JSON, perhaps in a code fence or with words around it. */
export function readChartText(text: string): ReadSpec {
  const json = (fenced(text) ?? outermost(text)).trim()
  if (json === "") return { problem: "there is no JSON object in it; answer with the specification alone" }
  if (json.length > chartLimits.bytes) {
    return { problem: `it is longer than ${chartLimits.bytes} characters; leave out the data, it is put in for you` }
  }
  try {
    const spec = readJson(json)
    if (isObject(spec)) return { spec }
    return { problem: "it is not a JSON object; answer with one Vega-Lite specification" }
  } catch (error) {
    return { problem: `it is not valid JSON (${(error as Error).message.slice(0, 200)})` }
  }
}

/**
 * The text between the first code fences. Searched without a regular expression, whose time would grow with the square
 * of the number of line breaks.
 */
function fenced(text: string): string | undefined {
  for (let at = text.indexOf("```"); at >= 0; at = text.indexOf("```", at + 1)) {
    const [opening] = /^```[a-z-]*[^\S\n]*\n/i.exec(text.slice(at, at + 100)) ?? []
    if (opening === undefined) continue
    const end = text.indexOf("```", at + opening.length)
    return end < 0 ? undefined : text.slice(at + opening.length, end)
  }
  return undefined
}

function outermost(text: string): string {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")]
  return from >= 0 && to > from ? text.slice(from, to + 1) : ""
}

export const isObject = (value: unknown): value is SpecObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
