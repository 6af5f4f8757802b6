import type { JsonObject } from "../../protocol/schema.ts"
import { own } from "../../protocol/own.ts"
import { didYouMean } from "./near-name.ts"
import { choicesOf, shapesOf, toPlainInput } from "./plain-input.ts"
import { parseNaming } from "../definition/schema.ts"
import type { Tool } from "../definition/tool.ts"

/** At most this many hints are added to a problem, so that the sentence stays readable. */
const MAX_HINTS = 5

/** `given`: the arguments as they are understood; `value`: the same as the tool's schema reads them. */
export type ReadInput = { readonly given: JsonObject; readonly value: unknown } | { readonly problem: string }

/** A call's arguments, judged for every tool in this one place: as they stand, or else as they can only have been meant. */
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
  const hints: string[] = []
  for (const [name, value] of Object.entries(input)) {
    if (hints.length >= MAX_HINTS) break
    const property = own(properties, name)
    const unsaid = Object.keys(properties).filter((known) => !Object.hasOwn(input, known))
    if (!property && schema.additionalProperties === false) hints.push(hint(name, didYouMean(name, unsaid)))
    else if (property && refused.has(name) && typeof value === "string")
      hints.push(hint(name, didYouMean(value, choicesOf(shapesOf(property)))))
  }
  const found = hints.filter(Boolean)
  return found.length > 0 ? ` (${found.join(" ")})` : ""
}

const hint = (name: string, meant: string) => (meant === "" ? "" : `${name}:${meant}`)
