import { expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { cite } from "./cite.ts"
import { type CitedSentence, contradicted, contradictedToo, supported, supportedToo } from "./contradictions.fixture.ts"
import { countWork } from "../../../test/support/worked.ts"
import { findContradiction, readPassage } from "./contradictions.ts"

const isFlagged = ({ passage, sentence }: CitedSentence): boolean => {
  const source: Source = { id: "psg_1", title: "Untitled", passage }
  const citations = cite(sentence, new Map([["1", source]]))
  expect(citations.length, sentence).toBeGreaterThan(0)
  return citations.some(({ problem, figures, differs }) => problem ?? figures ?? differs)
}

test("most sentences that contradict their passage are flagged", () => {
  expect(contradicted).toHaveLength(29)
  expect(contradicted.filter((each) => !isFlagged(each))).toEqual([])
})

test("hardly any sentence that its passage supports is flagged", () => {
  expect(supported).toHaveLength(30)
  expect(supported.filter(isFlagged)).toEqual([])
})

test("so it is in a second set, with at most five of 29 missed", () => {
  expect([contradictedToo.length, supportedToo.length]).toEqual([29, 30])
  const missed = contradictedToo.filter((each) => !isFlagged(each)).map(({ sentence }) => sentence)
  expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(5)
  expect(supportedToo.filter(isFlagged)).toEqual([])
})

const SLEEP =
  "Adults slept longer on weekends than on weekdays. Teenagers reported more headaches than adults, but fewer back problems. Men woke up earlier than women. Night workers drank twice as much coffee as day workers. Older pilots made fewer errors than younger pilots, although they were slower. The app had 30 users in the first year and 90 in the second."

test.each([
  ["Adults slept shorter on weekends than on weekdays", true],
  ["On weekdays adults slept less than on weekends", false],
  ["Teenagers reported fewer headaches than adults", true],
  ["Teenagers reported fewer back problems than adults", false],
  ["Men woke up later than women", true],
  ["Women woke up later than men", false],
  ["Older pilots made more errors than younger pilots", true],
  ["Younger pilots made more errors than older ones", false],
  ["Older pilots were slower than younger pilots but made fewer errors", false],
  ["Night workers drank three times as much coffee as day workers", true],
  ["Day workers drank half as much coffee as night workers", false],
  ["The app had three times as many users in the second year", false],
])("a comparison of the same two sides: %s", (sentence, isWrong) => {
  expect(isFlagged({ passage: SLEEP, sentence: `${sentence} [1].` })).toBe(isWrong)
})

test("the difference is reported with what the passage says", () => {
  const differs = (sentence: string, passage: string) => findContradiction(sentence, [readPassage(passage)])
  expect(differs("The cache is enabled by default.", "The cache is disabled by default. It is fast.")).toEqual({
    kind: "negation",
    passage: "The cache is disabled by default.",
  })
  const kinds = [
    ["Patients received 25 µg of the drug.", "Patients received 25 mg of the drug.", "unit"],
    ["Patients were in four groups.", "Patients were in three groups.", "number"],
    ["The bridge opened in 1923.", "The bridge opened in 1932.", "year"],
    ["Cats are faster than dogs on grass.", "On grass dogs are faster than cats.", "swapped"],
  ] as const
  for (const [sentence, passage, kind] of kinds) expect(differs(sentence, passage)?.kind).toBe(kind)
})

test("one of several passages that supports a sentence is enough", () => {
  const passages = ["The cache is disabled by default.", "The cache is enabled by default."].map(readPassage)
  expect(findContradiction("The cache is enabled by default.", passages)).toBeUndefined()
})

test("hostile sentences and passages take no longer than others of their length", () => {
  for (const piece of ["than ", "1 2 ", "not, ", "more x than y, ", "of of "]) {
    const worked = countWork()
    findContradiction(piece.repeat(20_000), [readPassage(piece.repeat(20_000))])
    expect(worked()).toBeLessThan(1_000)
  }
})
