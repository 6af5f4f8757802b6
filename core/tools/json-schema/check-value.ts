import type { ValidationIssue } from "../../engine/definition/schema.ts"
import { own } from "../../shared/text/json.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import {
  Check,
  type CheckOptions,
  type Found,
  jsonTypesOf,
  keyOfValue,
  type KeywordHandler,
  type KeywordUse,
  MAX_ISSUES,
  type Place,
  sameValue,
} from "./check.ts"
import type { CheckedKeyword, ParsedSchema, SchemaNode } from "./read-schema.ts"

/** Interprets a schema for a value, without code generation. Returns an empty list if the value fits. */
export function checkValue(schema: ParsedSchema, value: unknown, options: CheckOptions): ValidationIssue[] {
  const found: Found = []
  new Check(schema, HANDLERS, options).fits(schema.root, value, { found })
  return found.map(({ message, place }) => ({ message, path: pathOf(place) }))
}

const pathOf = (place: Place | undefined): (string | number)[] =>
  place === undefined ? [] : [...pathOf(place.within), place.key]

const within = (place: Place | undefined, key: string | number): Place => ({
  within: place,
  key,
  depth: (place?.depth ?? 0) + 1,
})

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const MAX_NAMED = 100
/** Caches the texts of objects in schemas, which failed checks repeat and which may be long. */
const namedRules = new WeakMap<object, string>()

/** A value for an error message, cut to a readable length. */
function named(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_NAMED)).slice(0, MAX_NAMED)
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? ""
  const known = namedRules.get(value) ?? JSON.stringify(value).slice(0, MAX_NAMED)
  namedRules.set(value, known)
  return known
}

function bound(isFit: (value: number, rule: number) => boolean, relation: string): KeywordHandler {
  return (check, use) =>
    typeof use.value !== "number" ||
    isFit(use.value, use.rule as number) ||
    check.fail(use, `must be ${relation} ${String(use.rule)}`)
}

type Sized = { readonly count: number; readonly noun: string }

function size(measure: (check: Check, value: unknown) => Sized | undefined, side: "max" | "min"): KeywordHandler {
  return (check, use) => {
    const measured = measure(check, use.value)
    const limit = use.rule as number
    if (!measured || (side === "max" ? measured.count <= limit : measured.count >= limit)) return true
    return check.fail(use, `must NOT have ${side === "max" ? "more" : "fewer"} than ${limit} ${measured.noun}`)
  }
}

function inCharacters(check: Check, value: unknown): Sized | undefined {
  if (typeof value !== "string") return undefined
  check.charge(value.length)
  let count = 0
  for (const _ of value) count++
  return { count, noun: "characters" }
}

const inItems = (_: Check, value: unknown): Sized | undefined =>
  Array.isArray(value) ? { count: value.length, noun: "items" } : undefined

function inProperties(check: Check, value: unknown): Sized | undefined {
  if (!isObject(value)) return undefined
  return { count: check.namesOf(value).length, noun: "properties" }
}

/** Checks each item from `from` on against one schema. */
function remainingItems(check: Check, use: KeywordUse, from: number): boolean {
  const { value, rule, place, found, seen } = use
  if (!Array.isArray(value)) return true
  let isFit = true
  for (let at = from; at < value.length && found.length < MAX_ISSUES; at++)
    isFit = check.fits(rule as SchemaNode, value[at], { found, place: within(place, at) }) && isFit
  if (seen) seen.allItems = true
  return isFit
}

function tuple(check: Check, { value, rule, place, found, seen }: KeywordUse): boolean {
  if (!Array.isArray(value)) return true
  const schemas = rule as readonly SchemaNode[]
  let isFit = true
  for (const [at, schema] of schemas.entries()) {
    if (at >= value.length) break
    isFit = check.fits(schema, value[at], { found, place: within(place, at) }) && isFit
    seen?.items.add(at)
  }
  return isFit
}

/** Checks each property that passes `schemaFor`. */
function eachProperty(check: Check, use: KeywordUse, schemaFor: (name: string) => SchemaNode | undefined): boolean {
  const { value, place, found, seen } = use
  if (!isObject(value)) return true
  let isFit = true
  for (const name of check.namesOf(value)) {
    if (found.length >= MAX_ISSUES) return false
    const schema = schemaFor(name)
    if (schema === undefined) continue
    seen?.names.add(name)
    if (schema === false) isFit = check.fail(use, `may have no property ${named(name)}`)
    else isFit = check.fits(schema, value[name], { found, place: within(place, name) }) && isFit
  }
  return isFit
}

/** If no form fits, reports the issues of the form that matched deepest. */
function anyOf(check: Check, use: KeywordUse): boolean {
  const { value, rule, place, found, seen } = use
  const tries: Found = []
  let fits = false
  for (const schema of rule as readonly SchemaNode[]) {
    const inner: Found = []
    if (check.fits(schema, value, { found: inner, place, seen })) fits = true
    if (fits && !seen) return true
    tries.push(...inner)
  }
  if (fits) return true
  const depthOf = ({ place: at }: Found[number]) => at?.depth ?? 0
  const deepest = Math.max(0, ...tries.map(depthOf))
  const seenNames = new Set<string>()
  for (const each of tries) {
    if (depthOf(each) !== deepest || seenNames.has(each.message) || found.length >= MAX_ISSUES) continue
    seenNames.add(each.message)
    found.push(each)
  }
  return tries.length > 0 ? false : check.fail(use, "must fit one of the forms that are allowed")
}

function countFits(check: Check, { value, rule, place, seen }: KeywordUse, most: number): number {
  let count = 0
  for (const schema of rule as readonly SchemaNode[]) {
    if (check.fitsQuietly(schema, value, { place, seen })) count++
    if (count > most) break
  }
  return count
}

function contains(check: Check, use: KeywordUse): boolean {
  const { value, rule, node, place, seen } = use
  if (!Array.isArray(value)) return true
  const { minContains: min = 1, maxContains: max } = node as { minContains?: number; maxContains?: number }
  let count = 0
  for (const [at, item] of value.entries()) {
    if (!check.fitsQuietly(rule, item, { place: within(place, at) })) continue
    count++
    seen?.items.add(at)
  }
  if (count < min) return check.fail(use, `must contain at least ${min} valid item(s)`)
  return max === undefined || count <= max || check.fail(use, `must contain at most ${max} valid item(s)`)
}

function required(check: Check, use: KeywordUse, names: readonly string[]): boolean {
  const { value } = use
  if (!isObject(value)) return true
  check.charge(names.length)
  let isFit = true
  for (const name of names)
    if (!Object.hasOwn(value, name)) isFit = check.fail(use, `must have required property ${named(name)}`)
  return isFit
}

/** Requirements if a property is present: names, or a schema. */
function dependent(check: Check, use: KeywordUse): boolean {
  const { value, rule, found, place, seen } = use
  if (!isObject(value)) return true
  let isFit = true
  for (const [name, demand] of Object.entries(rule as JsonObject)) {
    check.charge(1)
    if (!Object.hasOwn(value, name)) continue
    if (Array.isArray(demand)) isFit = required(check, use, demand as string[]) && isFit
    else isFit = check.fits(demand as SchemaNode, value, { found, place, seen }) && isFit
  }
  return isFit
}

function unique(check: Check, use: KeywordUse): boolean {
  const { value, rule } = use
  if (rule !== true || !Array.isArray(value)) return true
  const charge = (steps: number) => check.charge(steps)
  const seen = new Map<string, number>()
  for (const [at, item] of value.entries()) {
    const key = keyOfValue(item, charge)
    const before = seen.get(key)
    if (before !== undefined)
      return check.fail(use, `must NOT have duplicate items (items ${before} and ${at} are identical)`)
    seen.set(key, at)
  }
  return true
}

function additionalProperties(check: Check, use: KeywordUse): boolean {
  const { node, rule } = use
  const { properties = {}, patternProperties = {} } = node as Readonly<Record<string, JsonObject>>
  const patterns = check.namesOf(patternProperties)
  return eachProperty(check, use, (name) =>
    Object.hasOwn(properties, name) || patterns.some((pattern) => check.has(pattern, name))
      ? undefined
      : (rule as SchemaNode),
  )
}

function patternProperties(check: Check, use: KeywordUse): boolean {
  let isFit = true
  const schemas = use.rule as Readonly<Record<string, SchemaNode>>
  for (const pattern of check.namesOf(schemas))
    isFit = eachProperty(check, use, (name) => (check.has(pattern, name) ? schemas[pattern] : undefined)) && isFit
  return isFit
}

function properties(check: Check, { value, rule, place, found, seen }: KeywordUse): boolean {
  if (!isObject(value)) return true
  let isFit = true
  for (const [name, schema] of Object.entries(rule as Readonly<Record<string, SchemaNode>>)) {
    check.charge(1)
    if (!Object.hasOwn(value, name)) continue
    seen?.names.add(name)
    isFit = check.fits(schema, value[name], { found, place: within(place, name) }) && isFit
  }
  return isFit
}

function ifThenElse(check: Check, { node, value, rule, found, place, seen }: KeywordUse): boolean {
  const isSo = check.fitsQuietly(rule, value, { place, seen })
  const then = isSo ? own(node, "then") : own(node, "else")
  return then === undefined || check.fits(then as SchemaNode, value, { found, place, seen })
}

const always: KeywordHandler = () => true

const HANDLERS: Readonly<Record<CheckedKeyword, KeywordHandler>> = {
  $ref: (check, use) => check.fits(check.refer(use.rule as string), use.value, use),
  additionalItems: (check, use) =>
    Array.isArray(use.node.items) ? remainingItems(check, use, use.node.items.length) : true,
  additionalProperties,
  allOf: (check, use) => {
    let isFit = true
    for (const schema of use.rule as readonly SchemaNode[]) isFit = check.fits(schema, use.value, use) && isFit
    return isFit
  },
  anyOf,
  const: (check, use) =>
    sameValue(use.value, use.rule, (steps) => check.charge(steps)) || check.fail(use, `must be ${named(use.rule)}`),
  contains,
  dependencies: dependent,
  dependentRequired: dependent,
  dependentSchemas: dependent,
  else: always,
  enum: (check, use) => {
    const all = use.rule as readonly unknown[]
    if (all.some((each) => sameValue(use.value, each, (steps) => check.charge(steps)))) return true
    const listed = all.slice(0, 30).map((each) => (typeof each === "string" ? each.slice(0, 60) : named(each)))
    return check.fail(use, `must be one of ${listed.join(", ")}`)
  },
  exclusiveMaximum: bound((value, rule) => value < rule, "<"),
  exclusiveMinimum: bound((value, rule) => value > rule, ">"),
  if: ifThenElse,
  items: (check, use) => {
    if (Array.isArray(use.rule)) return tuple(check, use)
    const { prefixItems } = use.node
    return remainingItems(check, use, Array.isArray(prefixItems) ? prefixItems.length : 0)
  },
  maxContains: always,
  maxItems: size(inItems, "max"),
  maxLength: size(inCharacters, "max"),
  maxProperties: size(inProperties, "max"),
  maximum: bound((value, rule) => value <= rule, "<="),
  minContains: always,
  minItems: size(inItems, "min"),
  minLength: size(inCharacters, "min"),
  minProperties: size(inProperties, "min"),
  minimum: bound((value, rule) => value >= rule, ">="),
  multipleOf: bound(isMultiple, "multiple of"),
  not: (check, use) =>
    !check.fitsQuietly(use.rule, use.value, { place: use.place }) || check.fail(use, "must NOT be valid"),
  nullable: always,
  oneOf: (check, use) => {
    const count = countFits(check, use, 1)
    if (count === 1) return true
    return count === 0 ? anyOf(check, use) : check.fail(use, "must match exactly one schema in oneOf")
  },
  pattern: (check, use) =>
    typeof use.value !== "string" ||
    check.has(use.rule as string, use.value) ||
    check.fail(use, `must match pattern ${named(use.rule)}`),
  patternProperties,
  prefixItems: tuple,
  properties,
  propertyNames: (check, use) => {
    if (!isObject(use.value)) return true
    const wrong = check.namesOf(use.value).find((name) => !check.fitsQuietly(use.rule, name, {}))
    return wrong === undefined || check.fail(use, `must not have a property named ${named(wrong)}`)
  },
  required: (check, use) => required(check, use, use.rule as readonly string[]),
  then: always,
  type: (check, use) => {
    const allowed = Array.isArray(use.rule) ? (use.rule as readonly unknown[]) : [use.rule]
    check.charge(allowed.length)
    if (use.node.nullable === true && use.value === null) return true
    return (
      jsonTypesOf(use.value).some((type) => allowed.includes(type)) ||
      check.fail(use, `must be ${[...new Set(allowed)].join(",")}`)
    )
  },
  unevaluatedItems: (check, use) => {
    const { value, rule, found, place, seen } = use
    if (!Array.isArray(value) || seen?.allItems) return true
    let isFit = true
    for (const [at, item] of value.entries()) {
      check.charge(1)
      if (seen?.items.has(at)) continue
      if (rule === false) isFit = check.fail(use, `must NOT have more items than are named (item ${at})`)
      else isFit = check.fits(rule as SchemaNode, item, { found, place: within(place, at) }) && isFit
    }
    if (seen) seen.allItems = true
    return isFit
  },
  unevaluatedProperties: (check, use) => {
    const { rule, seen } = use
    if (seen?.allNames) return true
    return eachProperty(check, use, (name) => (seen?.names.has(name) ? undefined : (rule as SchemaNode)))
  },
  uniqueItems: unique,
}

/** Also for fractions: 0.3 is a multiple of 0.1 despite floating-point errors. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  if (!Number.isFinite(times)) return value % of === 0
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times)
}
