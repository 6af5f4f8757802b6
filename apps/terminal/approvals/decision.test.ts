import { expect, test } from "vitest"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { type TypedDecision, decisionQuestion as ask, readDecision as read } from "./decision.ts"

const proposal = (id: string, status: Proposal["status"] = "pending") =>
  ({ id, status, expiresAt: "2030-01-01T12:15:00Z" }) as Proposal
const NOW = Date.parse("2030-01-01T12:00:00Z")
const readDecision = (words: string, waiting: readonly Proposal[]): TypedDecision =>
  read(words, waiting, { now: NOW, expiry: new Map() })
const decisionQuestion = (waiting: readonly Proposal[], now: number) => ask(waiting, { now, expiry: new Map() })
const [one, two] = [proposal("prop_1"), proposal("prop_2")]

test.each<[words: string, type: string]>([
  ["", "unclear"],
  ["n", "no"],
  ["No", "no"],
  [" yes ", "yes"],
  ["y", "yes"],
  ["a", "all"],
  ["none", "none"],
  ["e", "edit"],
  ["always", "always"],
])("%j is %s", (words, type) => {
  expect(readDecision(words, [one]).type).toBe(type)
})

test.each([
  "yes please",
  "yes, but not that one",
  "no!",
  "edit!",
  "yess",
  "all of them?",
  "ok",
  "constructor",
  "toString",
  "да",
])("%j decides nothing: it is sent to the model", (words) => {
  expect(readDecision(words, [one])).toEqual({ type: "message" })
})

test("a command can be approved with a prefix that ends in a star and covers the command", () => {
  const [test, other] = ["npm test -- a", "npm install"].map((commandLine, at) => ({
    ...proposal(`prop_${at + 5}`),
    commandLine,
  })) as [Proposal, Proposal]
  const prefix = "npm test *"
  expect(readDecision("always npm test *", [test])).toEqual({ type: "always", proposal: test, prefix })
  expect(readDecision("always 2 npm test *", [other, test])).toEqual({ type: "always", proposal: test, prefix })
  expect(readDecision("always npm test *", [other, test]).type, "which one?").toBe("unclear")
  expect(readDecision("always npm test *", [other]).type).toBe("unclear")
  expect(readDecision("always npm test; rm *", [test]).type).toBe("unclear")
  expect(readDecision("always npm test *", [one]).type, "no command").toBe("unclear")
  expect(readDecision("always use npm test", [test])).toEqual({ type: "message" })
})

test("yes! approves also what was not on the screen, and so do all! and always!", () => {
  expect(readDecision("yes!", [one])).toEqual({ type: "yes", proposals: [one], isUnread: true })
  expect(readDecision("Y! 2", [one, two])).toEqual({ type: "yes", proposals: [two], isUnread: true })
  expect(readDecision("all!", [one])).toEqual({ type: "all", proposals: [one], isUnread: true })
  expect(readDecision("always!", [one])).toEqual({ type: "always", proposal: one, isUnread: true })
  expect(readDecision("yes! 3", [one, two]).type).toBe("unclear")
})

test("a number picks one of several changes", () => {
  expect(readDecision("yes 2", [one, two])).toEqual({ type: "yes", proposals: [two] })
  expect(readDecision("yes", [one, two])).toEqual({ type: "yes", proposals: [one, two] })
  expect(readDecision("no 3", [one, two]).type).toBe("unclear")
  expect(readDecision("edit", [one, two]).type).toBe("unclear")
  expect(readDecision("edit 2", [one, two])).toEqual({ type: "edit", proposal: two })
  const waiting = [proposal("prop_0", "in_doubt"), one, two]
  expect(readDecision("edit", waiting), "by the numbers that are shown").toEqual({
    type: "unclear",
    says: "Which one? edit 2, edit 3.",
  })
  expect(readDecision("edit 3", waiting)).toEqual({ type: "edit", proposal: two })
})

test("a change in doubt is resolved, not approved", () => {
  const doubt = proposal("prop_3", "in_doubt")
  expect(readDecision("yes", [doubt]).type).toBe("unclear")
  expect(readDecision("", [doubt]).type).toBe("unclear")
  expect(readDecision("done", [doubt])).toEqual({ type: "resolve", proposal: doubt, choice: "done" })
  expect(readDecision("yes", [one, doubt]), "and never along with the rest").toEqual({ type: "yes", proposals: [one] })
  expect(readDecision("yes 2", [one, doubt]).type).toBe("unclear")
  expect(readDecision("retry", [one]), "a word like any other").toEqual({ type: "message" })
})

test("an expired change cannot be decided, and Enter continues without it", () => {
  const expired: Proposal = { ...proposal("prop_4"), expiresAt: "2030-01-01T12:00:00Z" }
  for (const words of ["yes", "no", "all", "none", "edit", "always", "yes 1", "n"])
    expect(readDecision(words, [expired]), words).toEqual({ type: "unclear", says: expect.stringContaining("expired") })
  expect(readDecision("", [expired])).toEqual({ type: "go-on" })
  expect(readDecision("do it again", [expired])).toEqual({ type: "message" })
  expect(readDecision("again", [expired])).toEqual({ type: "again", proposals: [expired] })
  expect(readDecision("again 1", [one, expired]), "not what has not").toEqual({ type: "message" })
  expect(readDecision("again", [one, expired])).toEqual({ type: "again", proposals: [expired] })
  expect(decisionQuestion([expired], NOW)).toContain('type "again" to propose it once more')
  expect(decisionQuestion([expired], NOW)).toContain("Press Enter to continue without it")
  // The next change is decided, not the expired one.
  expect(readDecision("yes", [expired, one])).toEqual({ type: "yes", proposals: [one] })
  expect(readDecision("yes 1", [expired, one]).type).toBe("unclear")
  expect(decisionQuestion([expired, one], NOW)).toBe("yes / no / always N / edit N / none / all · 1 expired")
})

test("a change in doubt must be resolved before the run continues", () => {
  const expired: Proposal = { ...proposal("prop_4"), expiresAt: "2030-01-01T12:00:00Z" }
  const waiting = [proposal("prop_3", "in_doubt"), expired]
  expect(decisionQuestion(waiting, NOW)).toBe("retry / done / abandon · 1 expired")
  for (const words of ["", "yes", "no", "all"])
    expect(readDecision(words, waiting), words).toEqual({ type: "unclear", says: expect.stringContaining("retry") })
  expect(readDecision("yes 2", waiting)).toEqual({ type: "unclear", says: "This expired, and nothing was changed." })
  expect(readDecision("abandon", waiting)).toMatchObject({ type: "resolve", choice: "abandon" })
})

test("if the server has reported whether a change expired, the local clock does not count", () => {
  const expired: Proposal = { ...proposal("prop_4"), expiresAt: "2030-01-01T12:00:00Z" }
  const open = { now: NOW, expiry: new Map([["prop_4", "open"]] as const) }
  expect(read("yes", [expired], open)).toEqual({ type: "yes", proposals: [expired] })
  expect(ask([expired], open), "no time is left by a clock that is wrong").toMatch(/none \/ all$/)
  expect(read("yes", [expired, { ...expired, id: two.id }], open), "only of that one").toEqual({
    type: "yes",
    proposals: [expired],
  })
  const late = { now: NOW, expiry: new Map([["prop_1", "expired"]] as const) }
  expect(read("", [one], late)).toEqual({ type: "go-on" })
})

test("a tool can be approved in advance, unless each of its changes asks", () => {
  const insisting: Proposal = { ...one, insists: true }
  expect(readDecision("always", [one])).toEqual({ type: "always", proposal: one })
  expect(readDecision("always 2", [one, two])).toEqual({ type: "always", proposal: two })
  for (const [words, waiting] of [
    ["always", [one, two]],
    ["always", [insisting]],
    ["always 2", [one, insisting]],
  ] as const)
    expect(readDecision(words, waiting).type).toBe("unclear")
  expect(decisionQuestion([insisting], NOW)).toBe("yes / no / edit / none / all")
  expect(decisionQuestion([one], NOW)).toBe("yes / no / always / edit / none / all")
  expect(decisionQuestion([one], NOW + 14 * 60_000), "its last minutes are counted").toContain("all · 60 s left")
})
