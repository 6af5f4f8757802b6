import { RE2JS } from "re2js"
import type { JsonObject } from "../../protocol/schema.ts"
import { type CheckedKeyword, type ParsedSchema, type SchemaNode, SchemaProblem } from "./read-schema.ts"

/** A check exceeded its number of steps. */
export class TooMuchWork extends Error {
  override name = "TooMuchWork"
}

export interface CheckOptions {
  /** The compiled patterns of the schema. */
  readonly patterns: ReadonlyMap<string, Pattern>
  /** Most rules, values and pattern steps. Throws `TooMuchWork` if exceeded. */
  readonly steps: number
}

/** Most reported issues. */
export const MAX_ISSUES = 5
/** Most nested levels of a value, below the limit of the stack. */
const MAX_NESTED = 500

export interface Place {
  readonly within: Place | undefined
  readonly key: string | number
  readonly depth: number
}

export type Found = { readonly message: string; readonly place: Place | undefined }[]

interface At {
  readonly found: Found
  readonly place?: Place | undefined
  readonly seen?: Seen | undefined
}

/** The properties and items that were checked, for `unevaluated…`. */
class Seen {
  readonly names = new Set<string>()
  readonly items = new Set<number>()
  allNames = false
  allItems = false

  add(other: Seen): void {
    for (const name of other.names) this.names.add(name)
    for (const item of other.items) this.items.add(item)
    this.allNames ||= other.allNames
    this.allItems ||= other.allItems
  }
}

export interface KeywordUse extends At {
  readonly node: JsonObject
  readonly value: unknown
  readonly rule: unknown
}

export type KeywordHandler = (check: Check, use: KeywordUse) => boolean

/** The check of one value: remaining steps and found issues. The keywords are passed in. */
export class Check {
  readonly #schema: ParsedSchema
  readonly #handlers: Readonly<Record<CheckedKeyword, KeywordHandler>>
  readonly #patterns: CheckOptions["patterns"]
  readonly #names = new Map<object, readonly string[]>()
  #steps: number
  #nested = 0

  constructor(
    schema: ParsedSchema,
    handlers: Readonly<Record<CheckedKeyword, KeywordHandler>>,
    { patterns, steps }: CheckOptions,
  ) {
    this.#schema = schema
    this.#handlers = handlers
    this.#patterns = patterns
    this.#steps = steps
  }

  charge(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new TooMuchWork()
  }

  /** The names of an object's properties. Charges for all of them, even if the caller stops at the first. */
  namesOf(value: object): readonly string[] {
    const known = this.#names.get(value) ?? Object.keys(value)
    this.#names.set(value, known)
    this.charge(known.length)
    return known
  }

  fits(node: SchemaNode, value: unknown, { found, place, seen: outer }: At): boolean {
    this.charge(1)
    if (node === true) return true
    if (node === false) return this.fail({ found, place }, "must not be there")
    if (++this.#nested > MAX_NESTED) throw new TooMuchWork()
    const seen = this.#schema.needsRemaining ? new Seen() : undefined
    let isFit = true
    for (const [keyword, rule] of this.#schema.rules.get(node) ?? []) {
      this.charge(1)
      if (!this.#handlers[keyword](this, { node, value, rule, found, place, seen })) isFit = false
      if (!isFit && found.length >= MAX_ISSUES) break
    }
    if (isFit && seen && outer) {
      this.charge(seen.names.size + seen.items.size)
      outer.add(seen)
    }
    this.#nested--
    return isFit
  }

  /** Whether it fits, without reporting issues. */
  fitsQuietly(node: unknown, value: unknown, { place, seen }: Omit<At, "found">): boolean {
    return this.fits(node as SchemaNode, value, { found: [], place, seen })
  }

  fail({ found, place }: At, message: string): false {
    if (found.length < MAX_ISSUES) found.push({ message, place })
    return false
  }

  refer(reference: string): SchemaNode {
    return this.#schema.references.get(reference) ?? false
  }

  has(source: string, text: string): boolean {
    const pattern = this.#patterns.get(source)
    if (!pattern) throw new Error("a pattern was not compiled")
    this.charge(pattern.size * (text.length + 1))
    return pattern.finds(text)
  }
}

type Charge = (steps: number) => void

/** The JSON Schema types of a value: an integer has two. */
export function jsonTypesOf(value: unknown): readonly string[] {
  if (value === null) return ["null"]
  if (Array.isArray(value)) return ["array"]
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "number"] : ["number"]
  return [typeof value]
}

/** Whether two values are equal JSON, in any order of fields. Charges for every compared value. */
export function sameValue(one: unknown, other: unknown, charge: Charge): boolean {
  charge(1)
  if (typeof one === "string" && typeof other === "string") {
    if (one.length !== other.length) return false
    charge(one.length >> 4)
    return one === other
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, at) => sameValue(each, other[at], charge))
    )
  const [names, others] = [Object.keys(one), Object.keys(other)]
  charge(names.length + others.length)
  return (
    names.length === others.length &&
    names.every((name) => Object.hasOwn(other, name) && sameValue(one[name as never], other[name as never], charge))
  )
}

/**
 * A text that is equal for equal JSON, to compare one value with many. Charges for the text of each level, because every
 * level copies its inner texts.
 */
export function keyOfValue(value: unknown, charge: Charge, depth = 0): string {
  charge(1)
  if (depth > MAX_NESTED) throw new TooMuchWork()
  if (typeof value === "string") charge(value.length >> 4)
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const keyOf = (inner: unknown) => keyOfValue(inner, charge, depth + 1)
  let key: string
  if (Array.isArray(value)) key = `[${value.map(keyOf).join()}]`
  else {
    const names = Object.keys(value).toSorted()
    key = `{${names.map((name) => `${JSON.stringify(name)}:${keyOf(value[name as never])}`).join()}}`
  }
  charge(key.length >> 4)
  return key
}

/** Most characters of a pattern, and most steps of its program: `(a{1000}){100}` has few characters and many steps. */
const MAX_PATTERN = 2000
const MAX_PROGRAM = 10_000

/** A pattern compiled to a linear program: a search costs at most size times length. */
export interface Pattern {
  readonly size: number
  finds(text: string): boolean
}

/** Throws `SchemaProblem` if a pattern is invalid or too large. */
export function compilePatterns(sources: Iterable<string>): Map<string, Pattern> {
  const patterns = new Map<string, Pattern>()
  for (const source of sources) patterns.set(source, compilePattern(source))
  return patterns
}

function compilePattern(source: string): Pattern {
  const name = `the pattern ${JSON.stringify(source.slice(0, 60))}`
  if (source.length > MAX_PATTERN) throw new SchemaProblem(`${name} has more than ${MAX_PATTERN} characters.`)
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(source)
  } catch (error) {
    throw new SchemaProblem(`${name} cannot be used: ${String((error as Error).message).slice(0, 200)}.`)
  }
  const size = compiled.programSize()
  if (size > MAX_PROGRAM)
    throw new SchemaProblem(`${name} makes a program of ${size} steps, and at most ${MAX_PROGRAM} are allowed.`)
  return { size, finds: (text) => compiled.test(text) }
}
