import { expect, test } from "vitest"
import { withoutSecrets } from "../../../engine/calls/tool-end.ts"
import { readServers } from "../server-list.ts"
import { declaresHeaders, sentSecrets } from "./server.ts"

const place = (header: unknown, more: object = {}) => ({ type: "string", "x-mcp-header": header, ...more })
const of = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })

test.each<[what: string, schema: unknown]>([
  ["none", of({ a: { type: "array", items: { type: "string" } } })],
  ["some", of({ a: place("City"), b: of({ c: place("Street", { type: "integer" }) }) })],
  ["a property of that name", of({ "x-mcp-header": { type: "string" } })],
])("valid headers: %s", (_, schema) => expect(declaresHeaders(schema)).toBe(true))

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
])("invalid headers: %s", (_, schema) => expect(declaresHeaders(schema)).toBe(false))

test.each([
  [25, true],
  [100_000, false],
])("lists in lists, %i deep: the limit of a tool", (times, fits) => {
  let schema: object = of({})
  for (let depth = 0; depth < times; depth++) schema = { items: schema }
  expect(declaresHeaders(schema)).toBe(fits)
})

const KEY = "sk-0123456789abcdef"
const basic = Buffer.from(`ada:${KEY}`).toString("base64")

test.each([
  ["as it is", KEY, [KEY]],
  ["with the word before it", `Bearer ${KEY}`, [`Bearer ${KEY}`, KEY]],
  ["as a password", `Basic ${basic}`, [`Basic ${basic}`, basic, KEY]],
  ["too short to be one", "Bearer short", ["Bearer short"]],
])("a key that is sent %s is not repeated in any form", (_, value, hidden) => {
  expect(sentSecrets([value])).toEqual(hidden)
})

test("nor is a key that an operator has written into the file", () => {
  const entry = {
    url: "https://mcp.example/",
    headers: { Authorization: `Bearer ${KEY}`, "x-place": "anywhere-at-all" },
  }
  const [server] = readServers(JSON.stringify({ mcpServers: { notes: entry } }), {})
  expect(server?.secrets).toEqual([`Bearer ${KEY}`, KEY])
})

test.each([
  ["a whole header", "${HEADER}", { HEADER: `Bearer ${KEY}` }],
  ["what stands behind the word", "Bearer ${KEY}", { KEY }],
  ["a name and a password", "Basic ${LOGIN}", { LOGIN: basic }],
])("nor is a key in a variable that is %s", (_, authorization, given) => {
  const entry = { url: "https://mcp.example/", headers: { authorization } }
  const [server] = readServers(JSON.stringify({ mcpServers: { notes: entry } }), given)
  const told = withoutSecrets(`${KEY} is none. Bearer ${KEY}, or Basic ${basic}?`, server?.secrets ?? [])
  expect(told).not.toContain(KEY)
  if (authorization.startsWith("Basic")) expect(told).not.toContain(basic)
})
