import { expect, test } from "vitest"
import { withoutSecrets } from "../../agent/calls/without-secrets.ts"
import { readServers } from "../read-servers.ts"
import { sentSecrets } from "./sent-secrets.ts"

const KEY = "sk-0123456789abcdef"
const basic = Buffer.from(`ada:${KEY}`).toString("base64")

test.each([
  ["as it is", KEY, [KEY]],
  ["with the word before it", `Bearer ${KEY}`, [`Bearer ${KEY}`, KEY]],
  ["as a password", `Basic ${basic}`, [`Basic ${basic}`, basic, KEY]],
  ["too short to be one", "Bearer short", ["Bearer short"]],
])("a key that is sent %s is repeated in no form", (_, value, hidden) => {
  expect(sentSecrets([value])).toEqual(hidden)
})

test("a key that an operator has written into the file is one, too", () => {
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
])("a key in a variable that is %s is repeated in no form either", (_, authorization, given) => {
  const entry = { url: "https://mcp.example/", headers: { authorization } }
  const [server] = readServers(JSON.stringify({ mcpServers: { notes: entry } }), given)
  const told = withoutSecrets(`${KEY} is none. Bearer ${KEY}, or Basic ${basic}?`, server?.secrets ?? [])
  expect(told).not.toContain(KEY)
  if (authorization.startsWith("Basic")) expect(told).not.toContain(basic)
})
