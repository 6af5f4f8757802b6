import { expect, test } from "vitest"
import type { HistoryMessage, ModelRequest } from "../model.ts"
import { digestedOf, digestRequest, digestsOf, continueDigest, readDigest } from "./request-digest.ts"

const history: HistoryMessage[] = [{ role: "user", text: "milk" }]
const request: ModelRequest = { system: "Be brief.", tools: [], toolChoice: "auto", history }

test("a recorded digest is read as it was written", () => {
  const recorded = digestRequest(request, request, history)
  expect(recorded.length).toBeLessThan(24)
  expect(readDigest(recorded)).toEqual({
    system: expect.stringMatching(/^[\w-]{4}$/),
    tools: expect.stringMatching(/^[\w-]{4}$/),
    options: expect.stringMatching(/^[\w-]{4}$/),
    files: "",
    messages: 1,
    newest: digestsOf(history),
  })
})

test("a digest records that the history differs from the state, and the shown files", () => {
  const shown = { ...request, history: [{ ...history[0], shown: [{ type: "words", text: "a list" }] }] } as ModelRequest
  const recorded = digestRequest(request, shown, [])
  expect(recorded).toMatch(/^2[\w-]{16}\.1c\./)
  expect(readDigest(recorded)).toMatchObject({ files: expect.stringMatching(/^[\w-]{4}$/), messages: 1 })
})

test("a digest of the previous version is compared by the characters that both have", () => {
  const [system, tools, options] = ["pKpkPO", "tvpemA", "cx9wa-"]
  const before = readDigest(`1.${system}.${tools}.${options}..3.pi2w1i.zz3`)
  expect(before).toEqual({
    system: "pKpk",
    tools: "tvpe",
    options: "cx9w",
    files: "",
    messages: 3,
    newest: ["pi2w1i", "zz3"],
  })
  expect(readDigest(`1.${system}.${tools}.${options}.filesX.3.pi2w1i`)).toMatchObject({ files: "file", messages: 3 })
})

test.each([
  ["2pKpktvpecx9w.1.abc", ["abc"]],
  ["1.pKpkPO.tvpemA.cx9wa-..1.abc", ["abc"]],
])("digests continue from the recorded one: %s", (recorded, newest) => {
  const read: HistoryMessage[] = [{ role: "user", text: "milk" }]
  continueDigest(recorded, read)
  expect(digestedOf(read)).toEqual({ count: 1, newest })
})

test.each(["", "3pKpktvpecx9w.1.abc", "1", "2", "2pKpktvpecx9w.1c.abc", "2pKpktvpecx9w.2.abc"])(
  "digests do not continue from %j",
  (recorded) => {
    const read: HistoryMessage[] = [{ role: "user", text: "milk" }]
    continueDigest(recorded, read)
    expect(digestedOf(read)).toBeUndefined()
  },
)

test.each(["", "3pKpktvpecx9w.1.abc", "1", "2", "2pKpk.1.abc", "2pKpktvpecx9w.many.abc"])("%j is no digest", (text) => {
  expect(readDigest(text)).toBeUndefined()
})
