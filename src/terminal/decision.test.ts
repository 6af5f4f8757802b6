import { expect, test } from "vitest"
import type { Proposal } from "../protocol/proposal.ts"
import { readDecision } from "./decision.ts"

const proposal = (id: string, status: Proposal["status"] = "pending") => ({ id, status }) as Proposal
const [one, two] = [proposal("prop_1"), proposal("prop_2")]

test.each<[words: string, type: string]>([
  ["", "no"],
  ["n", "no"],
  ["No", "no"],
  [" yes ", "yes"],
  ["y", "yes"],
  ["a", "all"],
  ["none", "none"],
  ["e", "edit"],
])("%j is %s", (words, type) => {
  expect(readDecision(words, [one]).type).toBe(type)
})

test.each(["yes please", "yes, but not that one", "y!", "yess", "all of them?", "ok", "constructor", "toString", "да"])(
  "%j decides nothing: it is said to the model",
  (words) => {
    expect(readDecision(words, [one])).toEqual({ type: "message" })
  },
)

test("of several one can be meant", () => {
  expect(readDecision("yes 2", [one, two])).toEqual({ type: "yes", proposals: [two] })
  expect(readDecision("yes", [one, two])).toEqual({ type: "yes", proposals: [one, two] })
  expect(readDecision("no 3", [one, two]).type).toBe("unclear")
  expect(readDecision("edit", [one, two]).type).toBe("unclear")
  expect(readDecision("edit 2", [one, two])).toEqual({ type: "edit", proposal: two })
})

test("what is in doubt is told about, not agreed to", () => {
  const doubt = proposal("prop_3", "in_doubt")
  expect(readDecision("yes", [doubt]).type).toBe("unclear")
  expect(readDecision("", [doubt]).type).toBe("unclear")
  expect(readDecision("done", [doubt])).toEqual({ type: "resolve", proposal: doubt, choice: "done" })
  expect(readDecision("yes", [one, doubt]), "and never along with the rest").toEqual({ type: "yes", proposals: [one] })
  expect(readDecision("yes 2", [one, doubt]).type).toBe("unclear")
  expect(readDecision("retry", [one]), "a word like any other").toEqual({ type: "message" })
})
