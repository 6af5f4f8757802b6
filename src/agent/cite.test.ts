import { expect, test } from "vitest"
import type { Source } from "../protocol/stages.ts"
import { cite } from "./cite.ts"

const passage =
  "Vision transformers split an image into patches —\n each patch is a “token” of sixteen by sixteen pixels."
const sources = new Map<string, Source>(
  [
    { id: "psg_1", title: "ViT", passage, hash: "abc" },
    { id: "psg_2", title: "DETR", passage: "Detection is set prediction." },
  ].map((source) => [source.id, source]),
)
const problems = (text: string) => cite(text, sources).map(({ marker, problem }) => [marker, problem ?? "bound"])

test.each<[what: string, text: string, found: string[][]]>([
  ["a marker that is known is bound", "It splits images [psg_1].", [["psg_1", "bound"]]],
  ["one that is not is flagged", "It splits images [psg_9].", [["psg_9", "unknown_source"]]],
  ["so is a number that nobody gave", "It splits images [3].", [["3", "unknown_source"]]],
  ["so is a footnote", "It splits images [^1].", [["1", "unknown_source"]]],
  [
    "two in one bracket are two",
    "So [psg_1, psg_7].",
    [
      ["psg_1", "bound"],
      ["psg_7", "unknown_source"],
    ],
  ],
  ["a link is no marker", "See [psg_9](https://example.org) and [here](x).", []],
  ["a box to tick, a word and code are none", "- [x] done [sic] `a[0]` b[1]\n```\n[psg_9]\n```", []],
  ["a quote that stands there is bound", '"split an image into patches" [psg_1]', [["psg_1", "bound"]]],
  [
    "in whatever case, spaces, marks and dashes",
    '“Into   PATCHES - each patch is a "token"” [psg_1]',
    [["psg_1", "bound"]],
  ],
  ["also with words left out", '"Vision transformers … sixteen pixels." [psg_1]', [["psg_1", "bound"]]],
  ["but not in another order", '"sixteen pixels ... Vision transformers" [psg_1]', [["psg_1", "quote_not_found"]]],
  ["a quote of another passage is flagged", '"Detection is set prediction." [psg_1]', [["psg_1", "quote_not_found"]]],
  ["a quote behind its marker too", '[psg_1] says "transformers never fail at all".', [["psg_1", "quote_not_found"]]],
  ["a made-up word inside is enough", '"split an image into many patches" [psg_1]', [["psg_1", "quote_not_found"]]],
  [
    "one of two passages holds it",
    '"Detection is set prediction." [psg_1] [psg_2]',
    [
      ["psg_1", "bound"],
      ["psg_2", "bound"],
    ],
  ],
  [
    "each quote has its own marker",
    '"split an image into patches" [psg_1] and "nobody ever said so" [psg_2]',
    [
      ["psg_1", "bound"],
      ["psg_2", "quote_not_found"],
    ],
  ],
  [
    "a name of every object is no source",
    "See [__proto__] and [constructor_1].",
    [
      ["__proto__", "unknown_source"],
      ["constructor_1", "unknown_source"],
    ],
  ],
])("%s", (_, text, found) => {
  expect(problems(text)).toEqual(found)
})

test("a bound quote says where it stands in its passage, and of which words that is the hash", () => {
  const [citation] = cite('It says "an image into patches - each patch" [psg_1].', sources)
  const { start, end } = citation?.span ?? { start: 0, end: 0 }
  expect(passage.slice(start, end)).toBe("an image into patches —\n each patch")
  expect(citation).toMatchObject({ hash: "abc", source: "psg_1" })
})

test("where a marker stands is told in the answer's own units", () => {
  const text = "😀 first line\nthen [psg_1]."
  expect(text.slice(cite(text, sources)[0]?.at).startsWith("psg_1")).toBe(true)
})

test.each([
  ["brackets", "[".repeat(100_000)],
  ["marks", '"'.repeat(100_000)],
  ["markers", "[psg_1]".repeat(20_000)],
  ["one long bracket", `[${"a_1,".repeat(50_000)}`],
  ["quotes before one marker", `${'"twelve letters" '.repeat(5_000)}[psg_1]`],
])("a long answer of nothing but %s is read in time", (_, text) => {
  const start = performance.now()
  cite(text, sources)
  expect(performance.now() - start).toBeLessThan(10_000) // one that looks again for each of them takes minutes
})
