import { expect, test } from "vitest"
import type { JsonObject } from "../protocol/schema.ts"
import { answerSchema } from "./answer-schema.ts"

const chain = Object.fromEntries(
  Array.from({ length: 11 }, (_, n) => [
    `d${n}`,
    { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ]),
)

test.each([
  ["that is none", { type: "objekt" }, "no JSON schema"],
  ["that is huge", { enum: ["x".repeat(100_000)] }, "characters"],
  ["that refers to itself", { properties: { inner: { $ref: "#" } } }, "refers to itself"],
  ["that refers to nothing", { $ref: "#/$defs/none" }, "nothing at"],
  ["that refers to another place", { $ref: "https://example.com/schema" }, "nothing at"],
  ["whose parts multiply", { $ref: "#/$defs/d0", $defs: { ...chain, d11: { type: "string" } } }, "parts"],
  [
    "whose parts multiply below a property that is called like a keyword",
    { properties: { default: { $ref: "#/$defs/d0" } }, $defs: { ...chain, d11: { type: "string" } } },
    "parts",
  ],
  ["that refers to what is no address", { $ref: "#/%" }, "nothing at"],
  ["with a pattern that RE2 does not know", { pattern: "(a)\\1" }, "no JSON schema"],
  ["that compares everything with everything", { uniqueItems: true }, "maxItems"],
])("a schema %s is refused in words", async (_, schema, words) => {
  await expect(answerSchema(schema as JsonObject)).rejects.toThrow(words)
})

test("a pattern on which a backtracking engine would stay for ever is linear here", async () => {
  const schema = await answerSchema({ type: "string", pattern: "^(a+)+$" })
  const began = process.cpuUsage().user
  expect(await schema["~standard"].validate(`${"a".repeat(5000)}b`)).toHaveProperty("issues")
  expect(process.cpuUsage().user - began).toBeLessThan(2_000_000)
})

test("properties may be called like keywords", async () => {
  const schema = await answerSchema({
    properties: { uniqueItems: true, enum: { type: "string" }, $id: { type: "string" } },
  })
  expect(await schema["~standard"].validate({ uniqueItems: 1, enum: "a", $id: "b" })).toHaveProperty("value")
  expect(await schema["~standard"].validate({ enum: 1 })).toMatchObject({ issues: [{ path: ["enum"] }] })
})

test("what may be referred to twice is, and what does not fit is told with its place", async () => {
  const schema = await answerSchema({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: { a: { $ref: "#/$defs/name" }, b: { $ref: "#/$defs/name" } },
    $defs: { name: { type: "string", minLength: 2 } },
  })
  expect(await schema["~standard"].validate({ a: "xy", b: "yz" })).toHaveProperty("value")
  expect(await schema["~standard"].validate({ a: "xy", b: "y" })).toMatchObject({ issues: [{ path: ["b"] }] })
})
