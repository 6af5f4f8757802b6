import { expect, test } from "vitest"
import { countWork } from "../../test/worked.ts"
import { unmarked } from "./cite.ts"

const passage = "Manuka honey is not effective in deep wounds, and it is cheap to make."
const sources = new Map([["1", { id: "psg_1", title: "Honey and deep wounds of the very old", passage }]])

test.each([
  ["in marks", 'The authors say "honey cures every wound in a single day".'],
  ["in a tag", "According to the study <q>honey cures every wound in a single day</q>."],
  ["not closed", "The paper states “honey cures every wound in a single day"],
  ["with a marker in another paragraph", 'So it is [1].\n\nThe authors say "honey cures every wound in a single day".'],
])("a made-up quote without a marker is told: %s", (_, text) => {
  expect(unmarked(text, sources)).toMatchObject([{ quote: expect.stringMatching(/^honey cures every/) }])
})

test.each([
  ["one that stands there", 'The authors say "honey is not effective in deep wounds".'],
  ["a title", 'The paper "Honey and deep wounds of the very old" says so.'],
  ["another title", 'The authors say so in "On the Many Uses of Honey in Wounds".'],
  ["the person's own words", 'You said: "does honey cure every wound in a day?"'],
  ["a suggestion", 'Try "honey for deep wounds in very old patients" as a search.'],
  ["a few words", 'The authors say "quite a surprise" of it.'],
  ["code", "The paper says `honey cures every wound in a single day`."],
])("and none that is good: %s", (_, text) => {
  expect(unmarked(text, sources, "does honey cure every wound in a day?")).toEqual([])
})

test("where nothing was found nothing is judged", () => {
  expect(unmarked('The authors say "honey cures every wound in a single day".', new Map())).toEqual([])
})

test("a long answer of nothing but such quotes is read in time", () => {
  const worked = countWork()
  unmarked('They say "honey cures every wound in a single day" and so on. '.repeat(10_000), sources)
  expect(worked()).toBeLessThan(10_000)
})
