import type { JsonObject } from "../../protocol/schema.ts"
import { own } from "../../shared/text/json.ts"

export type SchemaNode = JsonObject | boolean

/** A parsed schema: every reachable part is valid. */
export interface ParsedSchema {
  readonly root: SchemaNode
  /** The rules of each part, in the order of checking. */
  readonly rules: ReadonlyMap<JsonObject, readonly Rule[]>
  readonly references: ReadonlyMap<string, SchemaNode>
  readonly patterns: ReadonlySet<string>
  /** Whether it uses `unevaluatedProperties` or `unevaluatedItems`. */
  readonly needsRemaining: boolean
}

type Rule = readonly [keyword: CheckedKeyword, value: unknown]

/** Why a schema cannot be used, for its author. */
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

/** Parses a schema. Throws `SchemaProblem` if it is invalid, too large or uses an unsupported keyword. */
export function readJsonSchema(root: unknown, limits: SchemaLimits): ParsedSchema {
  if (!isNode(root)) return refuse("it must be an object, true or false.")
  return new Reader(root, limits).read()
}

const isNode = (value: unknown): value is SchemaNode => typeof value === "boolean" || isRecord(value)

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string")

const TYPES: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** The required type of plain values, with its description. Values with schemas inside are parsed by the reader. */
const PLAIN: Readonly<Partial<Record<Shape, readonly [fits: (value: unknown) => boolean, expected: string]>>> = {
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

/** Keywords that check the same value again, so a cycle of them would not end. */
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
  /** The parts that check the same value as a part. */
  readonly #same = new Map<JsonObject, SchemaNode[]>()
  /** References that are not parsed yet: a list, because a chain of references may be longer than the stack. */
  readonly #waiting: SchemaNode[] = []

  constructor(root: SchemaNode, limits: SchemaLimits) {
    this.#root = root
    this.#limits = limits
  }

  read(): ParsedSchema {
    this.#waiting.push(this.#root)
    for (let node = this.#waiting.pop(); node !== undefined; node = this.#waiting.pop()) this.#readNode(node, 0)
    this.#refuseCircles()
    const needsRemaining = this.#rules
      .values()
      .some((rules) => rules.some(([keyword]) => keyword.startsWith("unevaluated")))
    const [rules, references, patterns] = [this.#rules, this.#references, this.#patterns]
    return { root: this.#root, rules, references, patterns, needsRemaining }
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
    // `unevaluated…` is checked last.
    rules.sort(([one], [other]) => Number(one.startsWith("unevaluated")) - Number(other.startsWith("unevaluated")))
    if (this.#rules.size > parts) refuse(`it has more than ${parts} parts.`)
    for (const [keyword, value] of rules) this.#readRule(node, [keyword, value], depth)
  }

  /** An unknown name is an annotation, as in JSON Schema, unless it starts with `$`. */
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

  /** Refuses a part that checks its own value again: it would not end. Recursion into the value ends with it. */
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

/** The required type of a keyword's value. */
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
 * The supported keywords of drafts 7, 2019-09 and 2020-12 with the types of their values. An allow-list: a test fails for a
 * keyword of JSON Schema that is in none of these three tables.
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
  nullable: "boolean", // of OpenAPI, and common in generated schemas
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

/** Keywords without effect on validation. Definitions are parsed when a `$ref` names them. */
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

/**
 * Keywords that would change the meaning of a schema, with the reason for each refusal. Other names with `$` are refused
 * too.
 */
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
