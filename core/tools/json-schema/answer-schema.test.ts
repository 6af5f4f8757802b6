import { expect, test } from "vitest"
import type { JsonObject } from "../../protocol/schema.ts"
import { answerSchema } from "./answer-schema.ts"

const ADA = "ada"

test.each([
  ["that is none", { type: "objekt" }, '"type" must be one of'],
  ["that is huge", { enum: ["x".repeat(100_000)] }, "characters"],
  ["that refers to itself in place", { anyOf: [{ $ref: "#" }, { type: "string" }] }, "refers to itself"],
  ["that refers to nothing", { $ref: "#/$defs/none" }, "nothing at"],
  ["that refers to another place", { $ref: "https://example.com/schema" }, "nothing at"],
  ["that refers to what is no address", { $ref: "#/%" }, "nothing at"],
  ["with a pattern that RE2 does not know", { pattern: "(a)\\1" }, "cannot be used"],
  ["with a pattern that makes a huge program", { pattern: "(?:a{1000})".repeat(20) }, "a program of 20002 steps"],
  ["with a pattern of thousands of characters", { pattern: "a".repeat(3000) }, "2000 characters"],
  ["with a value that is none of its keyword's", { maximum: { $data: "1/a" } }, '"maximum" must be a number'],
  ["with another schema inside that has an address", { properties: { a: { $id: "https://example.com" } } }, '"$id"'],
])("a schema %s is refused with a sentence", async (_, schema, words) => {
  await expect(answerSchema(schema as JsonObject, ADA)).rejects.toThrow(words)
})

test("a pattern that never ends in a backtracking engine is linear here", async () => {
  const schema = await answerSchema({ type: "string", pattern: "^(a+)+$" }, ADA)
  expect(await schema["~standard"].validate(`${"a".repeat(5000)}b`)).toHaveProperty("issues")
})

test("a check in another thread yields to other work, and ends", async () => {
  const twice = (at: number) => [`d${at}`, { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]
  const $defs = { ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => twice(at))), d40: { type: "string" } }
  const schema = await answerSchema({ $ref: "#/$defs/d0", $defs } as JsonObject, ADA)
  let turns = 0
  let counting = setImmediate(function count() {
    turns++
    counting = setImmediate(count)
  })
  const checked = await schema["~standard"].validate("x")
  clearImmediate(counting)
  expect(checked).toEqual({ issues: [{ message: expect.stringContaining("takes too long to check") }] })
  expect(turns).toBeGreaterThan(50)
})

test.each([
  ["many names", Object.fromEntries(Array.from({ length: 4900 }, (_, at) => [`n${at}`, 1])), true],
  ["many items", { a: Array.from({ length: 4900 }, () => 1) }, true],
  ["many characters", { a: "x".repeat(4900) }, true],
  ["small fields", { a: "x", b: [1, 2] }, false],
])("of a value with %s, only a small one is checked in the main thread", async (_, value, leaves) => {
  const schema = await answerSchema({ type: "object" }, ADA)
  let isDone = false
  const checked = Promise.resolve(schema["~standard"].validate(value)).finally(() => (isDone = true))
  // A thread cannot answer before the event loop turns; the main thread needs a few microtasks.
  for (let tick = 0; tick < 100; tick++) await Promise.resolve()
  expect(isDone).toBe(!leaves)
  expect(await checked).toEqual({ value })
})

test("properties may be named like keywords", async () => {
  const schema = await answerSchema(
    {
      properties: { uniqueItems: true, enum: { type: "string" }, $id: { type: "string" } },
    },
    ADA,
  )
  expect(await schema["~standard"].validate({ uniqueItems: 1, enum: "a", $id: "b" })).toHaveProperty("value")
  expect(await schema["~standard"].validate({ enum: 1 })).toMatchObject({ issues: [{ path: ["enum"] }] })
})

test("a definition may be used twice, and an issue names its place", async () => {
  const schema = await answerSchema(
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      properties: { a: { $ref: "#/$defs/name" }, b: { $ref: "#/$defs/name" } },
      $defs: { name: { type: "string", minLength: 2 } },
    },
    ADA,
  )
  expect(await schema["~standard"].validate({ a: "xy", b: "yz" })).toHaveProperty("value")
  expect(await schema["~standard"].validate({ a: "xy", b: "y" })).toMatchObject({ issues: [{ path: ["b"] }] })
})

test("a schema that refers to itself inside the value checks a tree", async () => {
  const schema = await answerSchema(
    {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
      additionalProperties: false,
    },
    ADA,
  )
  const tree = (name: unknown) => ({ name: "a", children: [{ name: "b", children: [{ name }] }] })
  expect(await schema["~standard"].validate(tree("c"))).toHaveProperty("value")
  expect(await schema["~standard"].validate(tree(3))).toMatchObject({
    issues: [{ path: ["children", 0, "children", 0, "name"], message: "must be string" }],
  })
})

test("a value that is nested too deeply is refused", async () => {
  const schema = await answerSchema({ properties: { a: { $ref: "#" } } }, ADA)
  let value: unknown = {}
  for (let depth = 0; depth < 1000; depth++) value = { a: value }
  expect(await schema["~standard"].validate(value)).toHaveProperty("issues")
})

test("people take turns at the checking thread, and too many waiting checks are refused", async () => {
  const large = "x".repeat(5000)
  const [adas, bobs] = [await answerSchema({ type: "string" }, ADA), await answerSchema({ type: "string" }, "bob")]
  const done: string[] = []
  const check = async (person: string, schema: typeof adas) => {
    const checked = await schema["~standard"].validate(large)
    done.push(checked.issues ? `${person} refused` : person)
    return checked
  }
  const all = [...Array.from({ length: 52 }, () => check("ada", adas)), check("bob", bobs)]
  const checked = await Promise.all(all)
  expect(checked[51]).toEqual({ issues: [{ message: expect.stringContaining("too many checks") }] })
  expect(checked.filter(({ issues }) => issues)).toHaveLength(1)
  expect(done.filter((each) => !each.endsWith("refused")).indexOf("bob")).toBeLessThan(3)
})
