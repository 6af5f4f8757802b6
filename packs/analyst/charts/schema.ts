import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { checkValue, compilePatterns, readJsonSchema, type ReadSchema } from "../../../core/json-schema.ts"
import { refuse, specPath } from "./problem.ts"
import type { SpecObject } from "./text.ts"

/**
 * The part of the schema that a specification is checked against, so that an error is reported for that part and not
 * for all seven.
 */
const SHAPES = [
  ["layer", "TopLevelLayerSpec"],
  ["hconcat", "TopLevelHConcatSpec"],
  ["vconcat", "TopLevelVConcatSpec"],
  ["concat", "TopLevelConcatSpec"],
  ["repeat", "TopLevelRepeatSpec"],
  ["facet", "TopLevelFacetSpec"],
  ["mark", "TopLevelUnitSpec"],
] as const

/** Raised limits, because the schema is Vega-Lite's own and trusted. The process that checks has a time limit, too. */
const LIMITS = { parts: 100_000, depth: 200 }
const STEPS = 100_000_000

/** Loads Vega-Lite's schema. The validator of each shape is created when the first chart has it. */
export async function loadChartSchema(): Promise<(spec: SpecObject) => void> {
  const file = fileURLToPath(import.meta.resolve("vega-lite/vega-lite-schema.json"))
  const { definitions } = JSON.parse(await readFile(file, "utf8")) as { readonly definitions: object }
  const read = new Map<string, ReadSchema>()
  const readShape = (name: string) => {
    const known = read.get(name) ?? readJsonSchema({ $ref: `#/definitions/${name}`, definitions }, LIMITS)
    read.set(name, known)
    return known
  }
  return (spec) => {
    const shape = SHAPES.find(([word]) => word in spec)
    if (!shape) return refuse(`it has none of ${SHAPES.map(([word]) => word).join(", ")}: say what is drawn with mark`)
    const schema = readShape(shape[1])
    const issues = checkValue(schema, spec, { patterns: compilePatterns(schema.patterns), steps: STEPS })
    if (issues.length > 0) refuse(inWords(issues))
  }
}

function inWords(issues: ReturnType<typeof checkValue>): string {
  const problems = issues.map(({ path = [], message }) => `${specPath(path as string[])} ${message}`)
  return problems.slice(0, 3).join("; or ")
}
