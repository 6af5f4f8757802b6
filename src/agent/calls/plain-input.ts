import type { JsonObject } from "../../protocol/schema.ts"
import { own } from "../../protocol/own.ts"
import { toPlain } from "./near-name.ts"

type Shape = Readonly<Record<string, unknown>>

/** A longer text is no slip: it is not read as anything else. */
const LONGEST = 1000

/**
 * Arguments as small models write them, read as their schema has them: `""` for nothing, `"High"` for `high`, `"yes"` for
 * true, `"3"` for 3, `"Ben"` for a list of one. Only arguments that were refused (`refused`) are touched, so what is valid
 * stays as it is; and only where there is exactly one thing that they can mean. The same object where nothing was.
 */
export function toPlainInput(schema: Shape, given: JsonObject, refused: ReadonlySet<string>): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, Shape>
  const required = new Set((schema.required ?? []) as string[])
  const read: [string, unknown][] = []
  let isChanged = false
  for (const [name, value] of Object.entries(given)) {
    const property = refused.has(name) ? own(properties, name) : undefined
    if (property && typeof value === "string" && value.trim() === "" && !required.has(name)) {
      isChanged = true // nothing was said
      continue
    }
    const meant = property ? meaningOf(value, shapesOf(property)) : undefined
    isChanged ||= meant !== undefined
    read.push([name, meant ?? value])
  }
  return isChanged ? (Object.fromEntries(read) as JsonObject) : given
}

/** What may stand there, one by one. */
export function shapesOf(schema: Shape): Shape[] {
  const several = schema.anyOf ?? schema.oneOf
  if (Array.isArray(several)) return (several as Shape[]).slice(0, 20).flatMap(shapesOf)
  return Array.isArray(schema.type) ? (schema.type as string[]).map((type) => ({ ...schema, type })) : [schema]
}

/** The choices of a text, where it has some. */
export const choicesOf = (shapes: readonly Shape[]): string[] =>
  shapes.flatMap(({ enum: choices, const: only }) =>
    [...(Array.isArray(choices) ? choices : []), only].filter((choice): choice is string => typeof choice === "string"),
  )

function meaningOf(value: unknown, all: readonly Shape[]): unknown {
  const shapes = all.filter(({ type }) => type !== "null")
  const [only] = shapes
  if (typeof value === "string" && value.length > LONGEST) return undefined
  const choices = choicesOf(shapes)
  if (choices.length > 0) {
    const alike = typeof value === "string" ? choices.filter((choice) => toPlain(choice) === toPlain(value)) : []
    return alike.length === 1 && shapes.length === 1 ? alike[0] : undefined
  }
  if (!only || shapes.length > 1) return undefined
  switch (only.type) {
    case "boolean":
      return toFlag(value)
    case "integer":
    case "number":
      return toNumber(value, only.type)
    case "array":
      return toList(value, (only.items ?? {}) as Shape)
    default:
      return undefined
  }
}

const FLAGS = new Map([
  ...["true", "yes", "1", "on"].map((word) => [word, true] as const),
  ...["false", "no", "0", "off"].map((word) => [word, false] as const),
])

const toFlag = (value: unknown): boolean | undefined =>
  typeof value === "string" || typeof value === "number" ? FLAGS.get(String(value).trim().toLowerCase()) : undefined

function toNumber(value: unknown, type: "integer" | "number"): number | undefined {
  if (typeof value !== "string" || !/^\s*[+-]?\d{1,15}(?:\.\d{1,15})?\s*$/.test(value)) return undefined
  const number = Number(value)
  return type === "number" || Number.isSafeInteger(number) ? number : undefined
}

/** `"Ben"`, or a list that was written as a text. `"Ben, Ada"` may be one name or two. */
function toList(value: unknown, items: Shape): unknown[] | undefined {
  const [item, ...others] = shapesOf(items)
  if (typeof value !== "string" || others.length > 0) return undefined
  if (value.trimStart().startsWith("[")) return fromJson(value)
  return item?.type === "string" && !/[,;\n]|\band\b|&/i.test(value) ? [value] : undefined
}

function fromJson(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}
