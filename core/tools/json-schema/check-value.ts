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
import type { CheckedKeyword, ReadSchema, SchemaNode } from "./read-schema.ts"

/** What one schema says about one value, without any code made of it. An empty list means that the value fits. */
export function checkValue(schema: ReadSchema, value: unknown, options: CheckOptions): ValidationIssue[] {
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
/** The texts of objects and lists in schemas. A failed check names them often, and they may be long. */
const namedRules = new WeakMap<object, string>()

/** A value as an issue names it, cut to a readable length. */
function named(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_NAMED)).slice(0, MAX_NAMED)
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? ""
  const known = namedRules.get(value) ?? JSON.stringify(value).slice(0, MAX_NAMED)
  namedRules.set(value, known)
  return known
}

function bound(isFit: (value: number, rule: number) => boolean, words: string): KeywordHandler {
  return (check, asked) =>
    typeof asked.value !== "number" ||
    isFit(asked.value, asked.rule as number) ||
    check.fail(asked, `must be ${words} ${String(asked.rule)}`)
}

type Sized = { readonly count: number; readonly noun: string }

function size(measure: (check: Check, value: unknown) => Sized | undefined, side: "max" | "min"): KeywordHandler {
  return (check, asked) => {
    const measured = measure(check, asked.value)
    const limit = asked.rule as number
    if (!measured || (side === "max" ? measured.count <= limit : measured.count >= limit)) return true
    return check.fail(asked, `must NOT have ${side === "max" ? "more" : "fewer"} than ${limit} ${measured.noun}`)
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

/** Each item from one on against one schema. */
function restOfItems(check: Check, asked: KeywordUse, from: number): boolean {
  const { value, rule, place, found, seen } = asked
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

/** Each property that passes against one schema. */
function eachProperty(check: Check, asked: KeywordUse, schemaFor: (name: string) => SchemaNode | undefined): boolean {
  const { value, place, found, seen } = asked
  if (!isObject(value)) return true
  let isFit = true
  for (const name of check.namesOf(value)) {
    if (found.length >= MAX_ISSUES) return false
    const schema = schemaFor(name)
    if (schema === undefined) continue
    seen?.names.add(name)
    if (schema === false) isFit = check.fail(asked, `may have no property ${named(name)}`)
    else isFit = check.fits(schema, value[name], { found, place: within(place, name) }) && isFit
  }
  return isFit
}

/** One of many: what it says when none fits is about the one that came furthest into the value. */
function anyOf(check: Check, asked: KeywordUse): boolean {
  const { value, rule, place, found, seen } = asked
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
  const said = new Set<string>()
  for (const each of tries) {
    if (depthOf(each) !== deepest || said.has(each.message) || found.length >= MAX_ISSUES) continue
    said.add(each.message)
    found.push(each)
  }
  return tries.length > 0 ? false : check.fail(asked, "must fit one of the forms that are allowed")
}

function countFits(check: Check, { value, rule, place, seen }: KeywordUse, most: number): number {
  let count = 0
  for (const schema of rule as readonly SchemaNode[]) {
    if (check.fitsQuietly(schema, value, { place, seen })) count++
    if (count > most) break
  }
  return count
}

function contains(check: Check, asked: KeywordUse): boolean {
  const { value, rule, node, place, seen } = asked
  if (!Array.isArray(value)) return true
  const { minContains: min = 1, maxContains: max } = node as { minContains?: number; maxContains?: number }
  let count = 0
  for (const [at, item] of value.entries()) {
    if (!check.fitsQuietly(rule, item, { place: within(place, at) })) continue
    count++
    seen?.items.add(at)
  }
  if (count < min) return check.fail(asked, `must contain at least ${min} valid item(s)`)
  return max === undefined || count <= max || check.fail(asked, `must contain at most ${max} valid item(s)`)
}

function required(check: Check, asked: KeywordUse, names: readonly string[]): boolean {
  const { value } = asked
  if (!isObject(value)) return true
  check.charge(names.length)
  let isFit = true
  for (const name of names)
    if (!Object.hasOwn(value, name)) isFit = check.fail(asked, `must have required property ${named(name)}`)
  return isFit
}

/** What is demanded if a property is there: names, or a schema. */
function dependent(check: Check, asked: KeywordUse): boolean {
  const { value, rule, found, place, seen } = asked
  if (!isObject(value)) return true
  let isFit = true
  for (const [name, demand] of Object.entries(rule as JsonObject)) {
    check.charge(1)
    if (!Object.hasOwn(value, name)) continue
    if (Array.isArray(demand)) isFit = required(check, asked, demand as string[]) && isFit
    else isFit = check.fits(demand as SchemaNode, value, { found, place, seen }) && isFit
  }
  return isFit
}

function unique(check: Check, asked: KeywordUse): boolean {
  const { value, rule } = asked
  if (rule !== true || !Array.isArray(value)) return true
  const charge = (steps: number) => check.charge(steps)
  const seen = new Map<string, number>()
  for (const [at, item] of value.entries()) {
    const key = keyOfValue(item, charge)
    const before = seen.get(key)
    if (before !== undefined)
      return check.fail(asked, `must NOT have duplicate items (items ${before} and ${at} are identical)`)
    seen.set(key, at)
  }
  return true
}

function additionalProperties(check: Check, asked: KeywordUse): boolean {
  const { node, rule } = asked
  const { properties = {}, patternProperties = {} } = node as Readonly<Record<string, JsonObject>>
  const patterns = check.namesOf(patternProperties)
  return eachProperty(check, asked, (name) =>
    Object.hasOwn(properties, name) || patterns.some((pattern) => check.has(pattern, name))
      ? undefined
      : (rule as SchemaNode),
  )
}

function patternProperties(check: Check, asked: KeywordUse): boolean {
  let isFit = true
  const schemas = asked.rule as Readonly<Record<string, SchemaNode>>
  for (const pattern of check.namesOf(schemas))
    isFit = eachProperty(check, asked, (name) => (check.has(pattern, name) ? schemas[pattern] : undefined)) && isFit
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
  $ref: (check, asked) => check.fits(check.refer(asked.rule as string), asked.value, asked),
  additionalItems: (check, asked) =>
    Array.isArray(asked.node.items) ? restOfItems(check, asked, asked.node.items.length) : true,
  additionalProperties,
  allOf: (check, asked) => {
    let isFit = true
    for (const schema of asked.rule as readonly SchemaNode[]) isFit = check.fits(schema, asked.value, asked) && isFit
    return isFit
  },
  anyOf,
  const: (check, asked) =>
    sameValue(asked.value, asked.rule, (steps) => check.charge(steps)) ||
    check.fail(asked, `must be ${named(asked.rule)}`),
  contains,
  dependencies: dependent,
  dependentRequired: dependent,
  dependentSchemas: dependent,
  else: always,
  enum: (check, asked) => {
    const all = asked.rule as readonly unknown[]
    if (all.some((each) => sameValue(asked.value, each, (steps) => check.charge(steps)))) return true
    const words = all.slice(0, 30).map((each) => (typeof each === "string" ? each.slice(0, 60) : named(each)))
    return check.fail(asked, `must be one of ${words.join(", ")}`)
  },
  exclusiveMaximum: bound((value, rule) => value < rule, "<"),
  exclusiveMinimum: bound((value, rule) => value > rule, ">"),
  if: ifThenElse,
  items: (check, asked) => {
    if (Array.isArray(asked.rule)) return tuple(check, asked)
    const { prefixItems } = asked.node
    return restOfItems(check, asked, Array.isArray(prefixItems) ? prefixItems.length : 0)
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
  not: (check, asked) =>
    !check.fitsQuietly(asked.rule, asked.value, { place: asked.place }) || check.fail(asked, "must NOT be valid"),
  nullable: always,
  oneOf: (check, asked) => {
    const count = countFits(check, asked, 1)
    if (count === 1) return true
    return count === 0 ? anyOf(check, asked) : check.fail(asked, "must match exactly one schema in oneOf")
  },
  pattern: (check, asked) =>
    typeof asked.value !== "string" ||
    check.has(asked.rule as string, asked.value) ||
    check.fail(asked, `must match pattern ${named(asked.rule)}`),
  patternProperties,
  prefixItems: tuple,
  properties,
  propertyNames: (check, asked) => {
    if (!isObject(asked.value)) return true
    const wrong = check.namesOf(asked.value).find((name) => !check.fitsQuietly(asked.rule, name, {}))
    return wrong === undefined || check.fail(asked, `must not have a property named ${named(wrong)}`)
  },
  required: (check, asked) => required(check, asked, asked.rule as readonly string[]),
  then: always,
  type: (check, asked) => {
    const allowed = Array.isArray(asked.rule) ? (asked.rule as readonly unknown[]) : [asked.rule]
    check.charge(allowed.length)
    if (asked.node.nullable === true && asked.value === null) return true
    return (
      jsonTypesOf(asked.value).some((type) => allowed.includes(type)) ||
      check.fail(asked, `must be ${[...new Set(allowed)].join(",")}`)
    )
  },
  unevaluatedItems: (check, asked) => {
    const { value, rule, found, place, seen } = asked
    if (!Array.isArray(value) || seen?.allItems) return true
    let isFit = true
    for (const [at, item] of value.entries()) {
      check.charge(1)
      if (seen?.items.has(at)) continue
      if (rule === false) isFit = check.fail(asked, `must NOT have more items than are named (item ${at})`)
      else isFit = check.fits(rule as SchemaNode, item, { found, place: within(place, at) }) && isFit
    }
    if (seen) seen.allItems = true
    return isFit
  },
  unevaluatedProperties: (check, asked) => {
    const { rule, seen } = asked
    if (seen?.allNames) return true
    return eachProperty(check, asked, (name) => (seen?.names.has(name) ? undefined : (rule as SchemaNode)))
  },
  uniqueItems: unique,
}

/** Of fractions too: 0.3 is a multiple of 0.1, although the machine's numbers are a little off. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  if (!Number.isFinite(times)) return value % of === 0
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times)
}
