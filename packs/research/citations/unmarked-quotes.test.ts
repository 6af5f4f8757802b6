import { expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { unmarked } from "./cite.ts"

const passage = "Manuka honey is not effective in deep wounds, and it is cheap to make."
const sources = new Map([["1", { id: "psg_1", title: "Honey and deep wounds of the very old", passage }]])

test.each([
  ["in marks", 'The authors say "honey cures every wound in a single day".'],
  ["in a tag", "According to the study <q>honey cures every wound in a single day</q>."],
  ["not closed", "The paper states “honey cures every wound in a single day"],
  ["with a marker in another paragraph", 'So it is [1].\n\nThe authors say "honey cures every wound in a single day".'],
])("a made-up quote without a marker is reported: %s", (_, text) => {
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

test.each([
  ["behind a colon", "The authors write:\n\n> Honey cures every wound in a single day."],
  ["right behind it", "The authors write:\n> Honey cures every wound in a single day."],
  ["behind a comma", "As the authors put it,\n\n> Honey cures every wound in a single day."],
  ["behind a full stop", "The authors say so in their own words.\n\n> Honey cures every wound in a single day."],
  ["behind a thing that is quoted", "A quote from the abstract:\n\n> Honey cures every wound in a single day."],
  ["over lines", "The authors write:\n\n> Honey cures every\n> wound in a single day."],
  ["with its author", "> Honey cures every wound in a single day.\n> — Ada Smith et al., 2020"],
  ["with its author on the same line", "> Honey cures every wound in a single day. — Ada Smith"],
  ["with its author below it", "> Honey cures every wound in a single day.\n\n— Ada Smith, 2020"],
  ["in marks, with its author", "> “Honey cures every wound in a single day.”\n> — Ada Smith"],
  ["as a second paragraph", "They say:\n\n> It is cheap to make.\n>\n> Honey cures every wound in a single day."],
  ["as an item", "The authors write:\n\n- > Honey cures every wound in a single day."],
  ["as a block of code", "The authors write:\n\n```\nHoney cures every wound in a single day.\n```"],
  ["in a tag", "The authors write:\n\n<blockquote>Honey cures every wound in a single day.</blockquote>"],
  ["with a marker in another paragraph", "So [1].\n\nThe authors write:\n\n> Honey cures every wound in a single day."],
  ["with a marker of another sentence", "So it is [1]. The authors write:\n> Honey cures every wound in a single day."],
])("a made-up block quote without a marker is reported: %s", (_, text) => {
  expect(unmarked(text, sources)).toMatchObject([{ quote: expect.stringMatching(/^Honey cures every/) }])
})

test.each([
  ["one that stands there", "The authors write:\n\n> Manuka honey is not effective\n> in deep wounds."],
  ["with its author", "They say:\n\n> Manuka honey is not effective in deep wounds.\n> — Ada Smith et al., 2020"],
  ["with its author below it", "> Manuka honey is not effective in deep wounds.\n\n— Ada Smith, 2020"],
  ["in marks", "> “Manuka honey is not effective in deep wounds.”\n> — Ada Smith"],
  ["a sum of one's own", "The paper is about honey. In short:\n\n> Honey is cheap and does nothing for a wound."],
  ["an aside", "The study reports an effect.\n\n> Note: ask a doctor before you try this on a wound."],
  ["a warning", "The study reports an effect.\n\n> ⚠️ This is no advice, so please do ask a doctor."],
  ["the person's question", "You said:\n\n> does honey cure every wound in a day?"],
  ["a question of one's own", "> Would you like me to search the web for more of it?"],
  ["a dash of one's own", "> It is cheap to make for anybody — and that is all there is to it."],
  ["one that is cited", "The authors write [1]:\n\n> Honey cures every wound in a single day."],
  ["one that is cited behind", "The authors write:\n\n> Honey cures every wound in a single day. [1]"],
  ["one with a marker that nobody gave", "The authors write:\n\n> Honey cures every wound in a single day. [9]"],
  ["a few words", "The authors write:\n\n> Quite a surprise."],
])("and no block quote that is good, or judged by its marker: %s", (_, text) => {
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
