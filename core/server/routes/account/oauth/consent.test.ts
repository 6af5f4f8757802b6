import fc from "fast-check"
import { expect, test } from "vitest"
import { readClientId, toClient, toClientId } from "./consent.ts"

const REDIRECTS = ["https://program.example/back"]
const registered = (name: string | undefined) => toClientId(toClient(name, REDIRECTS))

test.each([
  ["a name that is cut behind a space", `${"a".repeat(99)} b`],
  ["what shows nothing between two spaces", "a \u200b b"],
  ["half a sign at the end", `${"a".repeat(99)}🌍`],
  ["nothing", undefined],
  ["what shows nothing", "\u202e\u200b"],
])("a registered program is identified by its id: %s", (_, name) => {
  expect(toClientId(readClientId(registered(name)))).toBe(registered(name))
})

test("a program is identified by its id whatever its name", () => {
  const parts = ["a", "b".repeat(49), " ", "\n", "\u00a0", "\u200b", "\ufeff", "\ud83c", "🌍", "\0"]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 120 }), (made) => {
      const client = toClient(made.join(""), REDIRECTS)
      expect(readClientId(toClientId(client))).toEqual(client)
      expect(client.name.length).toBeLessThanOrEqual(100)
    }),
  )
})
