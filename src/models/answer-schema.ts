import type { ErrorObject } from "ajv"
import type { Schema } from "../agent/definition/schema.ts"
import { failure } from "../protocol/errors.ts"
import { own } from "../protocol/own.ts"
import type { JsonObject } from "../protocol/schema.ts"

/** More than any answer for a program needs; and what it takes to check one stays within a second. */
const MAX_CHARACTERS = 64_000
const MAX_PARTS = 2000
const MAX_DEPTH = 40
const MAX_UNIQUE = 1000
const KEPT = 50

const refuse = (problem: string) => failure("bad_request", { problem: `schema: ${problem}` })

const kept = new Map<string, Promise<Schema<unknown>>>()

/**
 * What checks answers against a JSON schema of somebody's. Refuses one that is none, that is too large, or with which a
 * small answer could keep a server busy: it may not refer to itself, and its patterns are run by RE2, which is linear.
 */
export function answerSchema(json: JsonObject): Promise<Schema<unknown>> {
  const text = JSON.stringify(json)
  const known = kept.get(text)
  if (known) return known
  const made = make(json, text)
  kept.set(text, made)
  const [oldest] = kept.keys()
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
  return made
}

async function make({ $schema: _, $id: __, ...json }: JsonObject, text: string): Promise<Schema<unknown>> {
  if (text.length > MAX_CHARACTERS)
    throw refuse(`it has ${text.length} characters, and at most ${MAX_CHARACTERS} are read.`)
  new Weighing(json).weigh(json, [])
  const [{ Ajv }, { RE2JS }] = await Promise.all([import("ajv"), import("re2js")])
  const regExp = Object.assign(
    (pattern: string) => {
      const compiled = RE2JS.compile(pattern)
      return { test: (value: string) => compiled.matcher(value).find() }
    },
    { code: "linear" },
  )
  let validate: ReturnType<InstanceType<typeof Ajv>["compile"]>
  try {
    validate = new Ajv({
      strict: false,
      logger: false,
      validateFormats: false,
      allErrors: false,
      code: { regExp },
    }).compile(json)
  } catch (error) {
    throw refuse(`it is no JSON schema that can be used: ${(error as Error).message.slice(0, 200)}.`)
  }
  return {
    "~standard": {
      validate: (value) => (validate(value) ? { value } : { issues: (validate.errors ?? []).slice(0, 5).map(toIssue) }),
      jsonSchema: { input: () => json },
    },
  }
}

function toIssue({ instancePath, message = "does not fit", params }: ErrorObject) {
  const named = Object.values(params as object).filter((value) => typeof value === "string" || Array.isArray(value))
  const more = named.length > 0 ? ` (${JSON.stringify(named[0]).slice(0, 100)})` : ""
  return { message: `${message}${more}`, path: instancePath.split("/").slice(1) }
}

/** Weighed where they are referred to, or no schema. */
const UNWEIGHED = new Set(["$defs", "definitions", "const", "enum", "default", "examples"])
/** Under these stand schemas by names of somebody's own. */
const NAMED = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies"])

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw refuse(`there is nothing at ${step.slice(0, 100)}.`)
  }
}

/** Counts what there is to check, what is referred to each time anew: ten lines can refer to each other a billion times. */
class Weighing {
  readonly #root: JsonObject
  #parts = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** `areNamed`: what the node holds are schemas under names of somebody's own, such as a property that is called "default". */
  weigh(node: unknown, within: readonly unknown[], areNamed = false): void {
    if (typeof node !== "object" || node === null) return
    if (within.includes(node)) throw refuse("it refers to itself; say as many levels as you need.")
    if (++this.#parts > MAX_PARTS)
      throw refuse(`it has more than ${MAX_PARTS} parts, what it refers to counted each time.`)
    if (within.length > MAX_DEPTH) throw refuse(`it is nested more than ${MAX_DEPTH} deep.`)
    if (!areNamed) this.#weighWords(node as JsonObject, within)
    for (const [key, inner] of Object.entries(node)) {
      if (!areNamed && UNWEIGHED.has(key)) continue
      this.weigh(inner, [...within, node], !areNamed && NAMED.has(key))
    }
  }

  #weighWords(node: JsonObject, within: readonly unknown[]): void {
    const { $ref, uniqueItems, maxItems, $dynamicRef, $recursiveRef, $id } = node
    if ([$dynamicRef, $recursiveRef, $id].some((each) => typeof each === "string"))
      throw refuse("only $ref to a place in itself is taken, such as #/$defs/name.")
    if (uniqueItems === true && !(typeof maxItems === "number" && maxItems <= MAX_UNIQUE))
      throw refuse(`uniqueItems needs a maxItems of at most ${MAX_UNIQUE} beside it.`)
    if (typeof $ref === "string") this.weigh(this.#at($ref), [...within, node])
  }

  #at(place: string): unknown {
    const steps = /^#(\/.*)?$/.exec(place)?.[1]?.slice(1).split("/")
    let found: unknown = steps || place === "#" ? this.#root : undefined
    for (const step of steps ?? []) {
      const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")
      found = typeof found === "object" && found !== null ? own(found as JsonObject, name) : undefined
    }
    if (found === undefined) throw refuse(`there is nothing at ${place.slice(0, 100)}.`)
    return found
  }
}
