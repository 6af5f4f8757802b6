import fc from "fast-check"
import { z } from "zod"

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

/** Values that a schema of a request accepts, or rejects only for a rule that JSON Schema cannot express. */
export function fitting(schema: z.ZodType): fc.Arbitrary<unknown> {
  return toArbitrary(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema)
}

/** Caches samples: hundreds of requests have bodies of the same few schemas. */
const samples = new WeakMap<z.ZodType, unknown>()

/** Returns a value that the schema accepts; the same each time. */
export function sampleOf(schema: z.ZodType): unknown {
  if (!samples.has(schema)) samples.set(schema, firstOf(schema))
  return structuredClone(samples.get(schema))
}

/** For most schemas one of the first few values fits; creating 200 values takes a tenth of a second. */
function firstOf(schema: z.ZodType): unknown {
  const values = fitting(schema)
  for (const numRuns of [5, 200]) {
    const found = fc.sample(values, { seed: 1, numRuns }).find((value) => schema.safeParse(value).success)
    if (found !== undefined) return found
  }
  throw new Error("in 200 tries nothing was found that this schema takes")
}

function toArbitrary(schema: JsonSchema): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map(toArbitrary))
  if (typeof schema.type === "object") return fc.oneof(...schema.type.map((type) => toArbitrary({ ...schema, type })))
  switch (schema.type) {
    case "object":
      return toObject(schema)
    case "array":
      return fc.array(toArbitrary(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 4, 4) })
    case "string":
      return toText(schema)
    case "integer":
    case "number":
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 1_000_000) })
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function toObject({ properties, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  if (!properties) return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, toArbitrary(field)]))
  return fc.record(fields, { requiredKeys: [...required], noNullPrototype: true })
}

function toText({ pattern, format, minLength = 0, maxLength = 64 }: JsonSchema): fc.Arbitrary<string> {
  if (format === "date") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10))
  if (pattern) return fc.stringMatching(new RegExp(pattern), { maxLength: Math.min(maxLength, 64) })
  return fc.string({ minLength: Math.max(minLength, 1), maxLength: Math.min(maxLength, 40) })
}
