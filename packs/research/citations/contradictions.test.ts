import { expect, test } from "vitest"
import type { Source } from "../../../core/protocol/conversation/stages.ts"
import { cite } from "./cite.ts"
import { type CitedSentence, contradicted, supported } from "./contradictions.fixture.ts"
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
