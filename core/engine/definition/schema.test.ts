import { describe, expect, test } from "vitest"
import { z } from "zod"
import { parse, type Schema, withJsonSchema } from "./schema.ts"
import { answer, defineTool } from "./tool.ts"

const define = (input: unknown) =>
  defineTool({
    name: "count",
    description: "Counts.",
    input: input as Schema<unknown>,
    effect: "read",
    afterCrash: "run-again",
    run: () => answer("3"),
  })

/** Like libraries without JSON Schema support. */
const checksOnly = {
  "~standard": {
    version: 1,
    vendor: "some",
    validate: (value: unknown) =>
      typeof (value as { part?: unknown }).part === "string"
        ? { value: value as { part: string } }
        : { issues: [{ message: "must be text", path: ["part"] }] },
  },
} as const

describe("a tool whose input has no JSON schema is refused when the schema is converted", () => {
  test.each([
    ["a Standard Schema without JSON schema", checksOnly, /Tool "count": .*no JSON schema.*withJsonSchema/],
    ["no schema at all", undefined, /Tool "count": .*Standard Schema.*z\.object/],
    ["null", null, /Standard Schema/],
    ["a plain JSON schema", { type: "object", properties: {} }, /plain JSON schema/],
    ["a text", z.string(), /an object schema, not one of type "string"/],
    ["a choice of objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), /not one of anyOf/],
    ["a date inside", z.object({ on: z.date() }), /no JSON schema.*Date/],
    ["a big number inside", z.object({ big: z.bigint() }), /no JSON schema.*BigInt/i],
    [
      "a default that JSON does not have",
      withJsonSchema(checksOnly, { type: "object", default: 1n }),
      /no JSON schema/,
    ],
    ["a converter that gives nothing", withJsonSchema(checksOnly, undefined as never), /is not an object/],
    [
      "a converter that gives a promise",
      { "~standard": { ...checksOnly["~standard"], jsonSchema: { input: async () => ({}) } } },
      /an object schema/,
    ],
  ])("%s", (_, input, says) => {
    expect(() => define(input).declaration.inputSchema).toThrow(TypeError)
    expect(() => define(input).declaration.inputSchema).toThrow(says)
  })
})

test("withJsonSchema shows the given JSON schema, and validates with the library", async () => {
  const schema = withJsonSchema(checksOnly, { type: "object", properties: { part: { type: "string" } } })
  expect(define(schema).declaration.inputSchema).toEqual({ type: "object", properties: { part: { type: "string" } } })
  expect(await parse(schema, { part: "bolt" })).toEqual({ value: { part: "bolt" } })
  expect(await parse(schema, {})).toEqual({ problem: "part: must be text" })
})

test("a schema may be a function, asynchronous, or a transform", async () => {
  const callable = Object.assign(() => {}, z.object({ part: z.string() }))
  Object.defineProperty(callable, "~standard", { value: z.object({ part: z.string() })["~standard"] })
  expect(define(callable).declaration.inputSchema.type).toBe("object")
  const waits = z.object({ part: z.string().refine(async (part) => part !== "none", "is not in stock") })
  expect(define(waits).declaration.inputSchema.type).toBe("object")
  expect(await parse(waits as Schema<unknown>, { part: "none" })).toEqual({ problem: "part: is not in stock" })
  const changed = z.object({ on: z.iso.date().transform((text) => new Date(text)) })
  expect(define(changed).declaration.inputSchema.properties).toMatchObject({ on: { type: "string", format: "date" } })
})

test("five of many unknown arguments are named, and the rest are counted", async () => {
  const schema = z.strictObject({ inner: z.strictObject({}).optional() })
  const many = Object.fromEntries(Array.from({ length: 4900 }, (_, at) => [`name${at}`, 1]))
  const named = 'Unrecognized keys: "name0", "name1", "name2", "name3", "name4" and 4895 more'
  expect(await parse(schema, many)).toEqual({ problem: named })
  expect(await parse(schema, { inner: many })).toEqual({ problem: `inner: ${named}` })
  expect(await parse(schema, { a: 1 })).toEqual({ problem: 'Unrecognized key: "a"' })
  const long = await parse(schema, { ["x".repeat(100_000)]: 1 })
  expect("problem" in long && long.problem.length).toBeLessThan(200)
})

test("a long name in the path of an issue is cut", async () => {
  const judged = await parse(z.record(z.string(), z.number()), { ["x".repeat(100_000)]: "a" })
  expect("problem" in judged && judged.problem.length).toBeLessThan(300)
})
