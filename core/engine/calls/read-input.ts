import type { JsonObject } from "../../protocol/schema.ts"
import { own } from "../../shared/text/json.ts"
import { tryReadJson } from "../../shared/text/read-json.ts"
import { parseNaming } from "../definition/schema.ts"
import type { Tool } from "../definition/tool.ts"

/** At most this many hints are added to a problem, so that the sentence stays readable. */
const MAX_HINTS = 5

/** `given`: the arguments after correction; `value`: the same, parsed by the tool's schema. */
type ReadInput = { readonly given: JsonObject; readonly value: unknown } | { readonly problem: string }

/** Validates a call's arguments, for every tool: as they are, or else corrected if their meaning is unambiguous. */
export async function readInput({ input: schema, declaration }: Tool, input: JsonObject): Promise<ReadInput> {
  const strictly = await parseNaming(schema, input)
  if (!("problem" in strictly)) return { given: input, value: strictly.value }
  const given = toPlainInput(declaration.inputSchema, input, strictly.refused)
  if (given !== input) {
    const understood = await parseNaming(schema, given)
    if (!("problem" in understood)) return { given, value: understood.value }
  }
  return { problem: strictly.problem + hintsFor(declaration.inputSchema, input, strictly.refused) }
}

function hintsFor(schema: Record<string, unknown>, input: JsonObject, refused: ReadonlySet<string>): string {
  const properties = (schema.properties ?? {}) as Record<string, Record<string, unknown>>
  const unsaid = Object.keys(properties).filter((known) => !Object.hasOwn(input, known))
  const hints: string[] = []
  for (const [name, value] of Object.entries(input)) {
    if (hints.length >= MAX_HINTS) break
    const property = own(properties, name)
    if (!property && schema.additionalProperties === false) hints.push(hint(name, didYouMean(name, unsaid)))
    else if (property && refused.has(name) && typeof value === "string")
      hints.push(hint(name, didYouMean(value, choicesOf(shapesOf(property)))))
  }
  const found = hints.filter(Boolean)
  return found.length > 0 ? ` (${found.join(" ")})` : ""
}

const hint = (name: string, meant: string) => (meant === "" ? "" : `${name}:${meant}`)

type Shape = Readonly<Record<string, unknown>>

/** A longer text is not a slip and is not corrected. */
const LONGEST = 1000

/**
 * Corrects arguments as small models write them: `""` for nothing, `"High"` for `high`, `"yes"` for true, `"3"` for 3,
 * `"Ben"` for a list of one. It changes only rejected arguments (`refused`), and only if exactly one meaning is
 * possible. Returns the same object if nothing was changed.
 */
function toPlainInput(schema: Shape, given: JsonObject, refused: ReadonlySet<string>): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, Shape>
  const required = new Set((schema.required ?? []) as string[])
  const read: [string, unknown][] = []
  let isChanged = false
  for (const [name, value] of Object.entries(given)) {
    const property = refused.has(name) ? own(properties, name) : undefined
    if (property && typeof value === "string" && value.trim() === "" && !required.has(name)) {
      isChanged = true // no value was given
      continue
    }
    const meant = property ? meaningOf(value, shapesOf(property)) : undefined
    isChanged ||= meant !== undefined
    read.push([name, meant ?? value])
  }
  return isChanged ? (Object.fromEntries(read) as JsonObject) : given
}

/** The alternatives of a schema. */
function shapesOf(schema: Shape): Shape[] {
  const several = schema.anyOf ?? schema.oneOf
  if (Array.isArray(several)) return (several as Shape[]).slice(0, 20).flatMap(shapesOf)
  return Array.isArray(schema.type) ? (schema.type as string[]).map((type) => ({ ...schema, type })) : [schema]
}

/** The choices of a text, if it has any. */
const choicesOf = (shapes: readonly Shape[]): string[] =>
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
  const list = tryReadJson(text)
  return Array.isArray(list) ? list : undefined
}

/** Longer names are not compared. */
const MAX_CHARACTERS = 64
/** Only the first of more names are compared. */
const MAX_NAMES = 2000

/**
 * The name that was probably meant, if exactly one is similar: one or two letters differ, or only case and punctuation.
 */
export function similarName(name: string, names: Iterable<string>): string | undefined {
  const plain = toPlain(name)
  if (plain === "" || name.length > MAX_CHARACTERS) return undefined
  const most = plain.length < 4 ? 1 : Math.min(3, Math.floor(plain.length / 3))
  let best: { readonly distance: number; readonly names: string[] } = { distance: most + 1, names: [] }
  let looked = 0
  for (const name of names) {
    if (++looked > MAX_NAMES) break
    if (name.length > MAX_CHARACTERS) continue
    const distance = distanceOf(plain, toPlain(name), most)
    if (distance < best.distance) best = { distance, names: [name] }
    else if (distance === best.distance && distance <= most) best.names.push(name)
  }
  return best.names.length === 1 ? best.names[0] : undefined
}

/** Returns ` Did you mean x?`, or an empty string. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const near = similarName(name, names)
  return near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`
}

/** The same for `dueDate`, `due_date` and `Due date`. */
const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[\s_.-]/g, "")

/**
 * The edit distance: letters added, dropped, changed, or swapped with their neighbour. More than `most` is `most + 1`.
 */
function distanceOf(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    ;[before, row] = [row, next]
  }
  return row[b.length]!
}
