import type { JsonObject } from "../../protocol/schema.ts"
import { own } from "../../shared/text/json.ts"

export type SchemaNode = JsonObject | boolean

/** A schema that can be checked: every part that can be reached is known to be well formed. */
export interface ReadSchema {
  readonly root: SchemaNode
  /** What each part demands, in the order in which it is checked. */
  readonly rules: ReadonlyMap<JsonObject, readonly Rule[]>
  readonly references: ReadonlyMap<string, SchemaNode>
  readonly patterns: ReadonlySet<string>
  /** Whether it asks which properties or items no other keyword has checked. */
  readonly asksForRest: boolean
}

type Rule = readonly [keyword: CheckedKeyword, value: unknown]

/** Why a schema cannot be used, for the person who wrote it. */
export class SchemaProblem extends Error {
  override name = "SchemaProblem"
}

interface SchemaLimits {
  readonly parts: number
  readonly depth: number
}

const refuse = (problem: string): never => {
  throw new SchemaProblem(problem)
}

/** Reads a schema. Throws `SchemaProblem` if it is none, is too large or uses something that is not supported. */
export function readJsonSchema(root: unknown, limits: SchemaLimits): ReadSchema {
  if (!isNode(root)) return refuse("it must be an object, true or false.")
  return new Reader(root, limits).read()
}

const isNode = (value: unknown): value is SchemaNode => typeof value === "boolean" || isRecord(value)

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string")

const TYPES: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** What a plain value has to be, and how that is said. Shapes with schemas in them are read by the reader itself. */
const PLAIN: Readonly<Partial<Record<Shape, readonly [fits: (value: unknown) => boolean, words: string]>>> = {
  any: [() => true, ""],
  boolean: [(value) => typeof value === "boolean", "true or false"],
  count: [isCount, "a whole number from 0 on"],
  list: [(value) => Array.isArray(value), "a list"],
  "name lists": [(value) => isRecord(value) && Object.values(value).every(isNames), "lists of names"],
  names: [isNames, "a list of names"],
  number: [(value) => typeof value === "number", "a number"],
  pattern: [(value) => typeof value === "string", "a text"],
  "positive number": [(value) => typeof value === "number" && value > 0, "a number above 0"],
  reference: [(value) => typeof value === "string", "a text"],
  type: [
    (value) => TYPES.has(value) || (Array.isArray(value) && value.length > 0 && value.every((each) => TYPES.has(each))),
    `one of ${[...TYPES].join(", ")}, or a list of them`,
  ],
}

/** These check the same value again, so that a chain of them has to end. */
const IN_PLACE: ReadonlySet<CheckedKeyword> = new Set([
  "$ref",
  "allOf",
  "anyOf",
  "dependencies",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "oneOf",
  "then",
])

class Reader {
  readonly #root: SchemaNode
  readonly #limits: SchemaLimits
  readonly #rules = new Map<JsonObject, readonly Rule[]>()
  readonly #references = new Map<string, SchemaNode>()
  readonly #patterns = new Set<string>()
  /** Which parts check the same value as a part. */
  readonly #same = new Map<JsonObject, SchemaNode[]>()
  /** Named by a `$ref` and not read yet: a list, because a chain of references may be longer than a stack is deep. */
  readonly #waiting: SchemaNode[] = []

  constructor(root: SchemaNode, limits: SchemaLimits) {
    this.#root = root
    this.#limits = limits
  }

  read(): ReadSchema {
    this.#waiting.push(this.#root)
    for (let node = this.#waiting.pop(); node !== undefined; node = this.#waiting.pop()) this.#readNode(node, 0)
    this.#refuseCircles()
    const asksForRest = this.#rules
      .values()
      .some((rules) => rules.some(([keyword]) => keyword.startsWith("unevaluated")))
    const [rules, references, patterns] = [this.#rules, this.#references, this.#patterns]
    return { root: this.#root, rules, references, patterns, asksForRest }
  }

  #readNode(node: unknown, depth: number): void {
    if (typeof node === "boolean") return
    if (!isRecord(node)) return refuse(`${JSON.stringify(node).slice(0, 60)} stands where a schema is expected.`)
    if (this.#rules.has(node)) return
    const { parts, depth: maxDepth } = this.#limits
    if (depth > maxDepth) refuse(`it is nested more than ${maxDepth} deep.`)
    const rules: Rule[] = []
    this.#rules.set(node, rules)
    this.#same.set(node, [])
    for (const [keyword, value] of Object.entries(node)) {
      if (!Object.hasOwn(CHECKED, keyword)) this.#requireHarmless(keyword, node)
      else rules.push([keyword as CheckedKeyword, value])
    }
    // What is left over is known when everything else has been checked.
    rules.sort(([one], [other]) => Number(one.startsWith("unevaluated")) - Number(other.startsWith("unevaluated")))
    if (this.#rules.size > parts) refuse(`it has more than ${parts} parts.`)
    for (const [keyword, value] of rules) this.#readRule(node, [keyword, value], depth)
  }

  /** A name that is no keyword is an annotation, as JSON Schema has it, unless it has the mark of those that change a schema. */
  #requireHarmless(keyword: string, node: JsonObject): void {
    if (ANNOTATIONS.has(keyword) || !keyword.startsWith("$") || (keyword === "$id" && node === this.#root)) return
    const reason = own(REFUSED_KEYWORDS, keyword)
    const name = JSON.stringify(keyword.slice(0, 60))
    refuse(`the keyword ${name} is not supported${reason === undefined ? "" : `: ${reason}`}.`)
  }

  #readRule(node: JsonObject, [keyword, value]: Rule, depth: number): void {
    const shape: Shape = CHECKED[keyword]
    const plain = PLAIN[shape]
    if (plain) {
      if (!plain[0](value)) refuse(`"${keyword}" must be ${plain[1]}.`)
      if (shape === "pattern") this.#patterns.add(value as string)
      if (shape === "reference") this.#same.get(node)!.push(this.#find(value as string))
      return
    }
    for (const inner of this.#schemasIn(keyword, shape, value)) {
      this.#readNode(inner, depth + 1)
      if (IN_PLACE.has(keyword)) this.#same.get(node)!.push(inner as SchemaNode)
    }
  }

  #schemasIn(keyword: CheckedKeyword, shape: Shape, value: unknown): readonly unknown[] {
    if (shape === "schema" || (shape === "items" && !Array.isArray(value))) return [value]
    if (shape === "schemas" || shape === "items") {
      if (!Array.isArray(value) || (value.length === 0 && shape === "schemas" && keyword !== "prefixItems"))
        return refuse(`"${keyword}" must be a list of schemas.`)
      return value
    }
    if (!isRecord(value)) return refuse(`"${keyword}" must be an object with schemas under names.`)
    if (shape === "patterned schemas") for (const pattern of Object.keys(value)) this.#patterns.add(pattern)
    const all = Object.values(value)
    return shape === "dependencies" ? all.filter((each) => !isNames(each)) : all
  }

  #find(reference: string): SchemaNode {
    const known = this.#references.get(reference)
    if (known !== undefined) return known
    const nothing = (): never =>
      refuse(
        `there is nothing at ${reference.slice(0, 100)}. A $ref names a path in the same schema, such as #/$defs/name.`,
      )
    if (reference !== "#" && !reference.startsWith("#/")) return nothing()
    let found: unknown = this.#root
    for (const step of reference.split("/").slice(1)) {
      const name = decoded(step)?.replaceAll("~1", "/").replaceAll("~0", "~")
      if (name === undefined || typeof found !== "object" || found === null) return nothing()
      found = own(found as JsonObject, name)
    }
    if (!isNode(found)) return nothing()
    this.#references.set(reference, found)
    this.#waiting.push(found)
    return found
  }

  /** A part that checks the value it was itself asked about would never end. One that goes into the value ends with it. */
  #refuseCircles(): void {
    const state = new Map<JsonObject, "open" | "done">()
    for (const start of this.#same.keys()) {
      const path: [node: JsonObject, next: number][] = state.has(start) ? [] : [[start, 0]]
      while (path.length > 0) {
        const top = path.at(-1)!
        const [node, next] = top
        state.set(node, "open")
        const inner = this.#same.get(node)![next]
        top[1]++
        if (inner === undefined) {
          state.set(node, "done")
          path.pop()
        } else if (typeof inner === "object") {
          const known = state.get(inner)
          if (known === "open")
            refuse("it refers to itself without going into the value: no value could ever be checked.")
          if (known === undefined) path.push([inner, 0])
        }
      }
    }
  }
}

function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step)
  } catch {
    return undefined
  }
}

/** What a keyword's value has to be. */
type Shape =
  | "any"
  | "boolean"
  | "count"
  | "dependencies"
  | "items"
  | "list"
  | "name lists"
  | "names"
  | "number"
  | "pattern"
  | "patterned schemas"
  | "positive number"
  | "reference"
  | "schema"
  | "schemas"
  | "named schemas"
  | "type"

/**
 * The keywords that are checked, of drafts 7, 2019-09 and 2020-12, and what each may hold. This is an allow-list: a keyword
 * of JSON Schema that is neither here nor in the two tables below fails a test.
 */
export const CHECKED = {
  $ref: "reference",
  additionalItems: "schema",
  additionalProperties: "schema",
  allOf: "schemas",
  anyOf: "schemas",
  const: "any",
  contains: "schema",
  dependencies: "dependencies",
  dependentRequired: "name lists",
  dependentSchemas: "named schemas",
  else: "schema",
  enum: "list",
  exclusiveMaximum: "number",
  exclusiveMinimum: "number",
  if: "schema",
  items: "items",
  maxContains: "count",
  maxItems: "count",
  maxLength: "count",
  maxProperties: "count",
  maximum: "number",
  minContains: "count",
  minItems: "count",
  minLength: "count",
  minProperties: "count",
  minimum: "number",
  multipleOf: "positive number",
  not: "schema",
  nullable: "boolean", // of OpenAPI, and common in schemas of programs
  oneOf: "schemas",
  pattern: "pattern",
  patternProperties: "patterned schemas",
  prefixItems: "schemas",
  properties: "named schemas",
  propertyNames: "schema",
  required: "names",
  then: "schema",
  type: "type",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
  uniqueItems: "boolean",
} as const satisfies Readonly<Record<string, Shape>>

export type CheckedKeyword = keyof typeof CHECKED

/** Keywords that say something about a value and demand nothing of it. Definitions are read when a `$ref` names them. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$comment",
  "$defs",
  "$schema",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "default",
  "definitions",
  "deprecated",
  "description",
  "examples",
  "format",
  "readOnly",
  "title",
  "writeOnly",
])

const ONLY_PATHS = "only $ref with a path in the same schema is supported, such as #/$defs/name"

/** Keywords that would change what a schema means, and why each is refused. Any other name with a `$` is refused too. */
export const REFUSED_KEYWORDS: Readonly<Record<string, string>> = {
  $anchor: ONLY_PATHS,
  $async: "values are checked at once",
  $dynamicAnchor: ONLY_PATHS,
  $dynamicRef: ONLY_PATHS,
  $id: `${ONLY_PATHS}, and $id only at the top`,
  $recursiveAnchor: ONLY_PATHS,
  $recursiveRef: ONLY_PATHS,
  $vocabulary: "a schema cannot bring keywords of its own",
}
