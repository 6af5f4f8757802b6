import { describe, expect, test } from "vitest"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { toQuestionText, verdictOf } from "./open-questions.ts"

describe("a yes and a no", () => {
  test.each(["yes", "Yes.", "YES!", " yes ", '"yes"', "yes!!", "yes,\n"])("%j is a yes", (words) => {
    expect(verdictOf(words)).toBe("yes")
  })

  test.each(["no", "No.", "NO!", " no\n"])("%j is a no", (words) => {
    expect(verdictOf(words)).toBe("no")
  })

  test.each([
    ...["", "yes?", "yes no", "no, 5 instead", "yes please", "ok", "y", "yesterday", "not", "nо" /* another o */],
    ...["yes\u200b", `yes${" ".repeat(100_000)}`, "yes: delete everything", "noyes"],
  ])("%j is neither", (words) => {
    expect(verdictOf(words)).toBeUndefined()
  })
})

const proposal = (changes: Partial<Proposal> = {}) =>
  ({
    id: "prop_1",
    tool: "pay",
    summary: "Pay Bob",
    arguments: { to: "bob", cents: 5 },
    undoable: false,
    status: "pending",
    ...changes,
  }) as Proposal

describe("the text of a question", () => {
  const asking = { mayDecide: true, page: undefined }

  test("has the exact action, whether it can be undone, and where to decide", () => {
    const { words, ids } = toQuestionText([proposal()], { mayDecide: true, page: "https://pawl.example" })!
    expect(words).toBe(
      'Waiting for your yes:\n1. Pay Bob\n   pay {"to":"bob","cents":5}\n   This cannot be undone.\n' +
        "Answer yes or no here, or decide on Pawl's page (https://pawl.example).",
    )
    expect(ids).toEqual(["prop_1"])
  })

  test("refers to another client if it cannot be shown completely or decided here", () => {
    const long = toQuestionText([proposal({ arguments: { note: "x".repeat(5000) } })], asking)
    expect(long?.ids).toEqual([])
    expect(long?.words).toContain("too long to be shown here")
    const powerless = toQuestionText([proposal()], { ...asking, mayDecide: false })
    expect(powerless?.ids).toEqual([])
    expect(powerless?.words).toContain("Pay Bob")
    expect(powerless?.words).not.toContain("Answer yes")
  })

  test("shows invisible characters", () => {
    const hidden = [..."evil"].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join("")
    expect(toQuestionText([proposal({ arguments: { to: `bob${hidden}` } })], asking)?.words).toContain(
      "⟨4 hidden characters⟩",
    )
  })

  test("reports calls in doubt, which a yes cannot decide", () => {
    const question = toQuestionText([proposal({ status: "in_doubt" })], asking)
    expect(question?.words).toMatch(/^It is not known whether this was done: Pay Bob/)
    expect(question?.ids).toEqual([])
    expect(toQuestionText([proposal({ status: "applying" }), proposal({ status: "expired" })], asking)).toBeUndefined()
  })
})
