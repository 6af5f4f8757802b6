import { expect, test } from "vitest"
import { declaresHeaders } from "./declared-headers.ts"

const place = (header: unknown, more: object = {}) => ({ type: "string", "x-mcp-header": header, ...more })
const of = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })

test.each<[what: string, schema: unknown]>([
  ["none", of({ a: { type: "array", items: { type: "string" } } })],
  ["some", of({ a: place("City"), b: of({ c: place("Street", { type: "integer" }) }) })],
  ["a property of that name", of({ "x-mcp-header": { type: "string" } })],
])("headers that can be sent: %s", (_, schema) => expect(declaresHeaders(schema)).toBe(true))

test.each<[what: string, schema: unknown]>([
  ["of no text", of({ a: place(5) })],
  ["of none", of({ a: place("") })],
  ["null", of({ a: place(null) })],
  ["with signs that move a cursor", of({ a: place("\u001b[2J") })],
  ["of two lines", of({ a: place("City\n") })],
  ["for what is no single value", of({ a: place("City", { type: "\u001b[2J" }) })],
  ["for a number with a fraction", of({ a: place("City", { type: "number" }) })],
  ["of the same name", of({ a: place("City"), b: place("city") })],
  ["for all of it", of({}, { "x-mcp-header": "City" })],
  ["for each of several", of({ "\u001b[2J": { type: "array", items: place("City") } })],
  ["for one of two", of({ a: { oneOf: [of({ b: place("City") })] } })],
  ["of a definition", of({}, { $defs: { a: place("City") } })],
])("headers that cannot: %s", (_, schema) => expect(declaresHeaders(schema)).toBe(false))

test.each([
  [25, true],
  [100_000, false],
])("lists in lists, %i of them: as deep as a tool may be", (times, fits) => {
  let schema: object = of({})
  for (let depth = 0; depth < times; depth++) schema = { items: schema }
  expect(declaresHeaders(schema)).toBe(fits)
})
