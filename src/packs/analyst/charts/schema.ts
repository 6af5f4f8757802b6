import type { ErrorObject, SchemaValidateFunction, ValidateFunction } from "ajv"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { refuse } from "./problem.ts"
import { isObject, type SpecObject } from "./text.ts"

/** Which part of the schema a specification is meant to be: a mistake is told about that, and not about all seven. */
const SHAPES = [
  ["layer", "TopLevelLayerSpec"],
  ["hconcat", "TopLevelHConcatSpec"],
  ["vconcat", "TopLevelVConcatSpec"],
  ["concat", "TopLevelConcatSpec"],
  ["repeat", "TopLevelRepeatSpec"],
  ["facet", "TopLevelFacetSpec"],
  ["mark", "TopLevelUnitSpec"],
] as const

/**
 * Vega-Lite's own schema. To compile all of it takes more than a second, and a chart needs a few of its hundreds of
 * definitions: each is compiled when the first chart comes to it.
 */
export async function loadChartSchema(): Promise<(spec: SpecObject) => void> {
  const file = fileURLToPath(import.meta.resolve("vega-lite/vega-lite-schema.json"))
  const { Ajv } = await import("ajv")
  // It is known to be a schema, and formats are of colours and addresses, which are looked at elsewhere. Code that is not
  // made smaller is made in a third of the time.
  const sparing = { validateFormats: false, validateSchema: false, inlineRefs: false, code: { optimize: false } }
  const ajv = new Ajv({ strict: false, logger: false, ...sparing })
  const { definitions } = JSON.parse(await readFile(file, "utf8"), refersLater) as Definitions
  const compiled = new Map<string, ValidateFunction>()
  const compile = (name: string) => {
    const known = compiled.get(name) ?? ajv.compile(definitions[name]!)
    compiled.set(name, known)
    return known
  }
  const fits: SchemaValidateFunction = (name: string, data, _parent, place) => {
    const validate = compile(name)
    const isFit = validate(data, place)
    fits.errors = validate.errors ?? []
    return isFit
  }
  ajv.addKeyword({ keyword: LATER, errors: "full", validate: fits })
  return (spec) => {
    const shape = SHAPES.find(([word]) => word in spec)
    if (!shape) return refuse(`it has none of ${SHAPES.map(([word]) => word).join(", ")}: say what is drawn with mark`)
    const validate = compile(shape[1])
    if (!validate(spec)) refuse(inWords(validate.errors ?? []))
  }
}

interface Definitions {
  readonly definitions: Readonly<Record<string, object>>
}

/** In the place of `$ref`: what that names is compiled with whatever refers to it. */
const LATER = "fitsDefinition"

function refersLater(_key: string, value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== "string") return value
  const { $ref, ...rest } = value
  return { ...rest, [LATER]: decodeURIComponent($ref.replace("#/definitions/", "")) }
}

/** Of all that did not fit, what is deepest in it: there the specification is nearest to being one. */
function inWords(errors: readonly ErrorObject[]): string {
  const depth = (error: ErrorObject) => error.instancePath.split("/").length
  const deepest = Math.max(...errors.map(depth))
  const there = errors.filter((error) => depth(error) === deepest && error.keyword !== "anyOf")
  const said = new Set(there.map((error) => sayOne(error)))
  return [...said].slice(0, 3).join("; or ") || "it is no Vega-Lite specification"
}

function sayOne({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll("/", ".") || "the top"
  if (keyword === "enum")
    return `${place} must be one of ${(params.allowedValues as unknown[]).slice(0, 30).join(", ")}`
  if (keyword === "const") return `${place} must be ${String(params.allowedValue)}`
  if (keyword === "additionalProperties") return `${place} has no property ${JSON.stringify(params.additionalProperty)}`
  if (keyword === "required") return `${place} needs ${String(params.missingProperty)}`
  return `${place} ${message ?? "does not fit"}`
}
