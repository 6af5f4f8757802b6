import { describe, expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { oneIn } from "../../../test/support/sizes.ts"
import { countWork } from "../../../test/support/worked.ts"
import { cite, unmarked } from "./cite.ts"

const passage =
  "Manuka honey is not effective in deep wounds, and it is cheap to make. The authors praise its taste and its colour above all. 蜂蜜は深い傷に対しては効果がないのである。"
const sources = new Map<string, Source>([
  ["1", { id: "psg_1", title: "Results", passage }],
  ["2", { id: "psg_2", title: "A short history of honey in the wards", passage: "Honey has long been used." }],
])
const asked = "Does honey cure every wound in a day or two?"
const told = (text: string) => cite(text, sources, asked).map(({ problem }) => problem ?? "bound")

describe("a made-up quote in italics is flagged where a source is named", () => {
  test.each([
    ["said to be said", "The authors write *honey cures every wound in a single day* [1]."],
    ["in the other sign", "The authors write _honey cures every wound in a single day_ [1]."],
    ["in bold italics", "The authors write ***honey cures every wound in a single day*** [1]."],
    ["in a tag", "The authors write <em>honey cures every wound in a single day</em> [1]."],
    ["behind a colon", "The paper has it in one line: *honey cures every wound in a single day* [1]."],
    ["on the next line", "The paper says in its abstract:\n*Honey cures every wound in a single day.* [1]"],
    ["before its verb", "*Honey cures every wound in a single day*, the authors write [1]."],
    ["with a word between", "They conclude that *honey cures every wound in a single day* [1]."],
    ["with others behind", "According to Smith et al., *honey cures every wound in a single day* [1]."],
    ["behind its marker", "As [1] puts it, *honey cures every wound in a single day*."],
    ["as a whole sentence", "*Honey cures every wound in a single day.* [1]"],
    ["as one of several", "Honey is cheap. *Honey cures every wound in a single day* [1]."],
    ["as an item", "- *Honey cures every wound in a single day* [1]"],
    ["with bold words in it", "They write *honey cures **every** wound in a single day* [1]."],
    ["over two lines", "They write *honey cures every\nwound in a single day* [1]."],
    ["in German", "Die Autoren schreiben: *Honig heilt jede Wunde an einem Tag* [1]."],
    ["where words have no spaces", "The authors write: *蜂蜜はすべての傷を一日で必ず治すのである* [1]."],
  ])("%s", (_, text) => {
    expect(told(text)).toEqual(["quote_not_found"])
  })
})

describe("what is only emphasis, or stands there, is not", () => {
  test.each([
    ["one that stands there", "The authors write *honey is not effective in deep wounds* [1]."],
    ["as a whole sentence", "*Manuka honey is not effective in deep wounds, and it is cheap to make.* [1]"],
    ["with bold words in it", "They write *honey is **not** effective in deep wounds* [1]."],
    ["where words have no spaces", "The authors write: *蜂蜜は深い傷に対しては効果がない* [1]."],
    ["a word", "It is *not* effective, and *very* cheap [1]."],
    ["a few words", "The authors say it is *not effective at all* [1]."],
    ["a clause of one's own", "Honey is cheap, but *it does nothing for wounds that are deep* [1]."],
    ["a clause behind a verb", "The authors say it is cheap, *but not that it helps in any wound* [1]."],
    ["an advice", "Note that *this says nothing about wounds that are not deep* [1]."],
    ["a label", "*What it means for wounds that are deep:* it does not help [1]."],
    ["a label in bold", "**What the authors say of wounds that are deep:** it does not help [1]."],
    ["the title of its source", "See *Results* [1]."],
    ["the title of another", "*A short history of honey in the wards* [1]"],
    ["a title with capitals", "They say so in *On the Many Uses of Honey in Wounds* [1]."],
    ["the question", "You said *does honey cure every wound in a day* and it does not [1]."],
    ["a list with stars", "* they say it does not help at all [1]\n* it is cheap to make for anybody [1]"],
    ["a product", "They say a * b * c is what the sum of it all * d is [1]."],
    ["names from a program", "They say patch_size and hidden_size of the one and the other_size_ are one [1]."],
    ["next to a sentence that is cited", "Honey is cheap [1]. *This is what I make of it after all.*"],
    ["a quote in marks inside", '*"Honey is not effective in deep wounds"* [1]'],
    ["the emphasis is inside a quote", '"Manuka honey is *not effective in deep wounds, and it* is cheap" [1]'],
  ])("%s", (_, text) => {
    expect(told(text)).toEqual(told(text).map(() => "bound"))
    expect(told(text).length).toBeGreaterThan(0)
  })
})

test.each([
  ["said to be said", "The authors write *honey cures every wound in a single day*."],
  ["in the other sign", "According to the study, _honey cures every wound in a single day_."],
  ["before its verb", "So it is [1].\n\n*Honey cures every wound in a single day*, the authors write."],
])("one without a marker is reported: %s", (_, text) => {
  expect(unmarked(text, sources, asked)).toMatchObject([{ quote: expect.stringMatching(/^honey cures every/i) }])
})

test.each([
  ["one that stands there", "The authors write *honey is not effective in deep wounds*."],
  ["a sentence of one's own", "*This is what I make of it after all.*"],
  ["emphasis", "The paper is old. Note that *it says nothing about wounds that are not deep*."],
  ["the question", "You said: *does honey cure every wound in a day*"],
])("and none that is good: %s", (_, text) => {
  expect(unmarked(text, sources, asked)).toEqual([])
})

const long: readonly [what: string, text: string][] = [
  ["stars", "*".repeat(200_000)],
  ["openers", "say *a ".repeat(100_000)],
  ["italics", "say *one two three four five six* [1] ".repeat(5_000)],
  ["both signs", "*_a b_* ".repeat(50_000)],
]
test.each(oneIn(3, long))("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  cite(text, sources)
  unmarked(text, sources)
  expect(worked()).toBeLessThan(10_000)
})
