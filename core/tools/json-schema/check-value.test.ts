import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import { dice } from "../../../test/support/sampling.ts"
import { compilePatterns, TooMuchWork } from "./check.ts"
import { checkValue } from "./check-value.ts"
import { ANNOTATIONS, CHECKED, readJsonSchema, REFUSED_KEYWORDS, SchemaProblem } from "./read-schema.ts"

/** All keywords of JSON Schema: draft 7, and the vocabularies of 2019-09 and 2020-12. */
const KEYWORDS = `
  $schema $id $ref $comment title description default readOnly writeOnly examples multipleOf maximum exclusiveMaximum
  minimum exclusiveMinimum maxLength minLength pattern additionalItems items maxItems minItems uniqueItems contains
  maxProperties minProperties required additionalProperties definitions properties patternProperties dependencies
  propertyNames const enum type format contentMediaType contentEncoding if then else allOf anyOf oneOf not
  $anchor $recursiveRef $recursiveAnchor $vocabulary $defs minContains maxContains dependentRequired dependentSchemas
  unevaluatedItems unevaluatedProperties contentSchema deprecated
  $dynamicRef $dynamicAnchor prefixItems`
  .trim()
  .split(/\s+/)

const LIMITS = { parts: 1000, depth: 50 }

function check(schema: unknown, value: unknown, steps = 1_000_000) {
  const read = readJsonSchema(schema, LIMITS)
  return checkValue(read, value, { patterns: compilePatterns(read.patterns), steps })
}

test("every keyword of JSON Schema is exactly one of checked, annotation and refused", () => {
  const places = (keyword: string) =>
    [Object.hasOwn(CHECKED, keyword), ANNOTATIONS.has(keyword), Object.hasOwn(REFUSED_KEYWORDS, keyword)].filter(
      Boolean,
    ).length
  expect(KEYWORDS.filter((keyword) => places(keyword) !== 1)).toEqual([])
  const known = [...Object.keys(CHECKED), ...ANNOTATIONS, ...Object.keys(REFUSED_KEYWORDS)]
  expect(known.filter((keyword) => !KEYWORDS.includes(keyword)).toSorted()).toEqual(["$async", "nullable"])
})

test.each([...Object.keys(REFUSED_KEYWORDS), "$something"])("%s is refused by its name", (keyword) => {
  const inside = { properties: { a: { [keyword]: true } } }
  expect(() => readJsonSchema(inside, LIMITS)).toThrow(new RegExp(`the keyword "\\${keyword}" is not supported`))
  expect(() => readJsonSchema({ properties: { [keyword]: { type: "string" } } }, LIMITS)).not.toThrow()
})

test.each(Object.entries(CHECKED).filter(([, shape]) => shape !== "any"))(
  "%s is refused if its value is malformed",
  (keyword, shape) => {
    const malformed = shape.endsWith("number") ? "1" : 1.5
    expect(() => readJsonSchema({ [keyword]: malformed }, LIMITS)).toThrow(SchemaProblem)
  },
)

test("random schemas give the verdict of another validator about random values", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  let [fitting, unfitting] = [0, 0]
  for (let seed = 1; seed <= 400; seed++) {
    const roll = dice(seed)
    const schema = randomSchema(roll, 3)
    const validate = ajv.compile(schema as object)
    for (let times = 0; times < 12; times++) {
      const value = randomValue(roll, 2)
      const [expected, actual] = [validate(value), check(schema, value).length === 0]
      if (expected !== actual)
        expect({ seed, schema, value, fits: actual }).toEqual({ seed, schema, value, fits: expected })
      if (expected) fitting++
      else unfitting++
    }
  }
  expect(Math.min(fitting, unfitting)).toBeGreaterThan(500)
})

type Roll = () => number

const pick = <T>(roll: Roll, all: readonly T[]): T => all[Math.floor(roll() * all.length)]!

const NAMES = ["a", "b", "ab"]

function randomValue(roll: Roll, depth: number): unknown {
  const kind = Math.floor(roll() * (depth > 0 ? 7 : 5))
  if (kind < 5)
    return [null, roll() < 0.5, Math.floor(roll() * 5) - 1, pick(roll, ["", "a", "ab", "b\u{1f600}"]), 1.5][kind]
  const length = Math.floor(roll() * 4)
  const values = Array.from({ length }, () => randomValue(roll, depth - 1))
  return kind === 5 ? values : Object.fromEntries(values.map((value) => [pick(roll, NAMES), value]))
}

function randomSchema(roll: Roll, depth: number): unknown {
  if (depth === 0) return pick(roll, [true, { type: pick(roll, ["string", "integer", "object", "array"]) }, {}, false])
  const inner = () => randomSchema(roll, depth - 1)
  const some = () => Array.from({ length: 1 + Math.floor(roll() * 2) }, inner)
  const few = () => Math.floor(roll() * 3)
  const makers: Readonly<Record<string, () => unknown>> = {
    type: () =>
      pick(roll, ["string", "number", "integer", "boolean", "null", ["object", "array"], ["string", "object"]]),
    enum: () => [randomValue(roll, 1), randomValue(roll, 1), "a"],
    const: () => randomValue(roll, 1),
    ...{ minimum: few, maximum: few, exclusiveMinimum: few, exclusiveMaximum: few, multipleOf: () => 2 },
    ...{ minLength: few, maxLength: few, pattern: () => pick(roll, ["^a", "b$", "[ab]{2}"]) },
    ...{ minItems: few, maxItems: few, minContains: few, maxContains: few, uniqueItems: () => true },
    ...{ items: inner, contains: inner, prefixItems: some, unevaluatedItems: inner },
    properties: () => ({ a: inner(), ab: inner() }),
    patternProperties: () => ({ "^a": inner() }),
    ...{ additionalProperties: inner, propertyNames: inner, unevaluatedProperties: inner },
    ...{ minProperties: few, maxProperties: few, required: () => [pick(roll, NAMES)] },
    dependentRequired: () => ({ a: ["b"] }),
    dependentSchemas: () => ({ b: inner() }),
    dependencies: () => (roll() < 0.5 ? { a: ["ab"] } : { a: inner() }),
    ...{ allOf: some, anyOf: some, oneOf: some, not: inner, if: inner, then: inner, else: inner },
  }
  const names = Object.keys(makers)
  const chosen = Array.from({ length: 1 + Math.floor(roll() * 4) }, () => pick(roll, names))
  if (chosen.includes("minContains") || chosen.includes("maxContains")) chosen.push("contains")
  return Object.fromEntries([...new Set(chosen)].map((name) => [name, makers[name]!()]))
}

test.each([
  [{ items: [{ type: "string" }], additionalItems: { type: "number" } }, ["a", 1], true],
  [{ items: [{ type: "string" }], additionalItems: false }, ["a", 1], false],
  [{ items: [{ type: "string" }] }, ["a", 1], true],
  [{ multipleOf: 0.1 }, 0.3, true],
  [{ multipleOf: 0.1 }, 0.35, false],
  [{ type: "string", nullable: true }, null, true],
  [{ required: ["constructor"] }, {}, false],
  [{ properties: { __proto__: false } }, JSON.parse('{"__proto__": 1}'), true],
  [JSON.parse('{"properties": {"__proto__": false}}'), JSON.parse('{"__proto__": 1}'), false],
  [{ $schema: "http://json-schema.org/draft-07/schema#", $id: "https://example.com/a", "x-order": 1 }, 1, true],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    false,
  ],
  [{ $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "string" } } }, 1, false],
])("%j for %j reports %s", (schema, value, fits) => expect(check(schema, value).length === 0).toBe(fits))

test("the steps of a check are counted, and limit it", () => {
  const value = Array.from({ length: 1000 }, () => ({ a: "x" }))
  const schema = { items: { properties: { a: { type: "string" } } } }
  expect(check(schema, value)).toEqual([])
  expect(() => check(schema, value, 3000)).toThrow(TooMuchWork)
  // A pattern costs its program for each character, before it is run.
  expect(() => check({ pattern: "(a|b|ab|aa){500}c" }, "ab".repeat(10_000), 10_000_000)).toThrow(TooMuchWork)
  expect(check({ not: { pattern: "^a" } }, "b".repeat(100))).toEqual([])
})

const names = Array.from({ length: 1000 }, (_, at) => `a${at}`)
const eachName = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]))

test.each<[string, object, unknown]>([
  ["propertyNames", { propertyNames: false }, eachName(1)],
  ["additionalProperties", { additionalProperties: { type: "string" } }, eachName(1)],
  ["unevaluatedProperties", { unevaluatedProperties: false }, eachName(1)],
  ["maxProperties", { maxProperties: 1 }, eachName(1)],
  ["patternProperties", { patternProperties: eachName(true) }, {}],
  ["required", { required: names }, {}],
  ["dependentRequired", { dependentRequired: eachName([]) }, {}],
  ["const", { const: eachName(1) }, {}],
  ["enum", { enum: names }, "b"],
  ["type", { type: names.map(() => "string") }, 1],
  ["uniqueItems", { uniqueItems: true }, [{ ["a".repeat(20_000)]: 1 }]],
  ["maxLength", { maxLength: 1 }, names.join("")],
])("%s counts every element, also if the first step decides", (_, rule, value) => {
  expect(check(rule, value).length).toBeLessThanOrEqual(5)
  expect(() => check(rule, value, 500)).toThrow(TooMuchWork)
})

test("a rule that compares 60 × 60 × 60 names ends after a few steps", () => {
  const sixty = (name: string) => ({ anyOf: Array.from({ length: 60 }, () => ({ $ref: `#/$defs/${name}` })) })
  const $defs = { a: { propertyNames: false }, b: sixty("a"), c: sixty("b"), d: sixty("c") }
  let walks = 0
  const value = new Proxy(eachName(1), { ownKeys: (of) => (walks++, Reflect.ownKeys(of)) })
  expect(() => check({ $ref: "#/$defs/d", $defs }, value, 10_000)).toThrow(TooMuchWork)
  expect(walks).toBe(1)
})

test("properties seen by many nested rules are counted for each of them", () => {
  const chain = Object.fromEntries(names.slice(0, 100).map((name, at) => [name, { $ref: `#/$defs/a${at + 1}` }]))
  const $defs = { ...chain, a100: { additionalProperties: true } }
  const schema = { $ref: "#/$defs/a0", $defs, unevaluatedProperties: false }
  expect(check(schema, eachName(1))).toEqual([])
  expect(() => check(schema, eachName(1), 50_000)).toThrow(TooMuchWork)
})

test("uniqueItems refuses an item that is nested too deeply for the stack", () => {
  let item: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) item = [item]
  expect(() => check({ uniqueItems: true }, [item])).toThrow(TooMuchWork)
})

test("with alternatives, the issues of the best match are reported", () => {
  const forms = { anyOf: [{ type: "string" }, { properties: { a: { enum: ["x", "y"] } } }] }
  expect(check(forms, { a: "z" })).toEqual([{ path: ["a"], message: "must be one of x, y" }])
})
