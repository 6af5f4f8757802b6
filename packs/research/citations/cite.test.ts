import { expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { cite } from "./cite.ts"
import { oneIn } from "../../../test/support/sizes.ts"
import { countWork } from "../../../test/support/worked.ts"

const passage =
  "Vision transformers split an image into patches —\n each patch is a “token” of sixteen by sixteen pixels."
const sources = new Map<string, Source>(
  [
    { id: "psg_1", title: "ViT", passage, hash: "abc" },
    { id: "psg_2", title: "DETR", passage: "Detection is set prediction." },
    {
      id: "psg_3",
      title: "Trial",
      passage: "The vaccine is ineffective in most patients, and nobody can't say if a 5\" dose of it is safe.",
    },
    {
      id: "arxiv_hep-th_9901001",
      title: "Strings",
      passage: "Strings are non-trivial objects. 弦は一次元の物体であり、粒子ではないのである。",
    },
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
  [
    "a second quote before the same marker is checked too",
    '"split an image into patches" and "nobody ever said so" [psg_1]',
    [["psg_1", "quote_not_found"]],
  ],
  ["so is one whose marker stands on the next line", '"nobody ever said so"\n[psg_1]', [["psg_1", "quote_not_found"]]],
  ["or in a paragraph of its own", '"nobody ever said so"\n\nSource: [psg_1]', [["psg_1", "quote_not_found"]]],
  [
    "or on its line, with another below",
    '[psg_2] says "nobody ever said so".\nAnd [psg_1].',
    [
      ["psg_2", "quote_not_found"],
      ["psg_1", "bound"],
    ],
  ],
  ["a quote over two lines is one", '"nobody ever\n> said so" [psg_1]', [["psg_1", "quote_not_found"]]],
  ["and is found", '> "split an image\n> into patches" [psg_1]', [["psg_1", "bound"]]],
  ["a marker inside a quote is about it", '"nobody ever said so [psg_1]"', [["psg_1", "quote_not_found"]]],
  ["and no word of it", '"split an image [psg_1] into patches"', [["psg_1", "bound"]]],
  [
    "other brackets in it are its own words",
    '"nobody [12] ever said so" [psg_1]',
    [
      ["12", "unknown_source"],
      ["psg_1", "quote_not_found"],
    ],
  ],
  ["half a word is another word", '"effective in most patients" [psg_3]', [["psg_3", "quote_not_found"]]],
  ["at its end too", '"in most patients, and nobody can" [psg_3]', [["psg_3", "quote_not_found"]]],
  ["and behind a hyphen", '"trivial objects" [arxiv_hep-th_9901001]', [["arxiv_hep-th_9901001", "quote_not_found"]]],
  [
    "where words have no spaces any place will do",
    "「一次元の物体であり、粒子ではない」 [arxiv_hep-th_9901001]",
    [["arxiv_hep-th_9901001", "bound"]],
  ],
  ["scraps are no quote", '"vaccine … is … safe" [psg_3]', [["psg_3", "quote_not_found"]]],
  ["German marks", "„nobody ever said so“ [psg_1]", [["psg_1", "quote_not_found"]]],
  ["single ones", "‘nobody ever said so’ [psg_1]", [["psg_1", "quote_not_found"]]],
  ["straight single ones", "it's 'nobody's ever said so' [psg_1]", [["psg_1", "quote_not_found"]]],
  ["with an apostrophe at a word's end", "‘the authors’ word for it’ [psg_1]", [["psg_1", "quote_not_found"]]],
  ["and mixed ones", '“nobody ever said so" [psg_1]', [["psg_1", "quote_not_found"]]],
  ["an inch mark opens nothing", 'A 5" pipe, "nobody ever said so" [psg_1]', [["psg_1", "quote_not_found"]]],
  ["and ends nothing", '"if a 5" dose of it is deadly" [psg_3]', [["psg_3", "quote_not_found"]]],
  ["also in what stands there", '"if a 5" dose of it is safe" [psg_3]', [["psg_3", "bound"]]],
  ["a quote in a quote is part of it", '"each patch is a "token" of nobody" [psg_1]', [["psg_1", "quote_not_found"]]],
  [
    "apostrophes make no quote",
    "The authors' and the others' words don't matter, 'tis so [psg_1].",
    [["psg_1", "bound"]],
  ],
  [
    "markers may stand side by side",
    "So [psg_1][psg_fake_9] and works[psg_fake_8].",
    [
      ["psg_1", "bound"],
      ["psg_fake_9", "unknown_source"],
      ["psg_fake_8", "unknown_source"],
    ],
  ],
  [
    "our own ids are markers without brackets, and among words",
    "So (psg_fake_9), [see psg_fake_8], [psg_1, p. 3], psg_fake_7: yes.",
    [
      ["psg_fake_9", "unknown_source"],
      ["psg_fake_8", "unknown_source"],
      ["psg_1", "bound"],
      ["psg_fake_7", "unknown_source"],
    ],
  ],
  [
    "numbers side by side too",
    "So [1][2].",
    [
      ["1", "unknown_source"],
      ["2", "unknown_source"],
    ],
  ],
  ["an old number of arXiv's", "So [arxiv_hep-th/9901001].", [["arxiv_hep-th/9901001", "unknown_source"]]],
  ["what only looks like a link is none", "So [psg_fake_9](p. 3).", [["psg_fake_9", "unknown_source"]]],
  [
    "tools, files and addresses are no markers",
    "By web_search in doc_12.md, https://example.org/psg_9 and a[0][1] [here](https://example.org/a_(b)?psg_9).",
    [],
  ],
])("%s", (_, text, found) => {
  expect(problems(text)).toEqual(found)
})

const numbered = new Map([
  ...sources,
  ["1", sources.get("psg_1")!],
  ["2", sources.get("psg_2")!],
  ["3", sources.get("psg_3")!],
])
test.each<[what: string, text: string, found: string[][]]>([
  ["a number is bound", "It splits images [1].", [["1", "psg_1"]]],
  [
    "two side by side, or in one bracket",
    "So [1][2], so [2, 3].",
    [
      ["1", "psg_1"],
      ["2", "psg_2"],
      ["2", "psg_2"],
      ["3", "psg_3"],
    ],
  ],
  [
    "a range is all of it",
    "So [1-3].",
    [
      ["1-3", "psg_1"],
      ["1-3", "psg_2"],
      ["1-3", "psg_3"],
    ],
  ],
  [
    "also with the other dash",
    "So [2–3].",
    [
      ["2–3", "psg_2"],
      ["2–3", "psg_3"],
    ],
  ],
  [
    "one that nobody gave is flagged",
    "So [4], [2-9].",
    [
      ["4", "unknown_source"],
      ["2-9", "unknown_source"],
    ],
  ],
  ["an index and code are none", "Take a[1] or `[2]`, m[1][2].\n```\nx = [1, 2]\n```", []],
  ["an interval is none", "In [0, 1], [-1, 1], [0.5, 2] and [1, n].", []],
  ["a year is none", "As Vaswani et al. [2017] and Smith [2019, 2020a] say.", []],
  ["a quote is held against the passage of its number", '"Detection is set prediction." [2]', [["2", "psg_2"]]],
  ["and flagged where it is another's", '"Detection is set prediction." [1]', [["1", "quote_not_found"]]],
])("%s", (_, text, found) => {
  expect(cite(text, numbered).map(({ marker, source, problem }) => [marker, problem ?? source])).toEqual(found)
})

test("a verified quote reports its position in the passage, and the hash of the passage", () => {
  const [citation] = cite('It says "an image into patches - each patch" [psg_1].', sources)
  const { start, end } = citation?.span ?? { start: 0, end: 0 }
  expect(passage.slice(start, end)).toBe("an image into patches —\n each patch")
  expect(citation).toMatchObject({ hash: "abc", source: "psg_1" })
})

test("the position of a marker is in UTF-16 units of the answer", () => {
  const text = "😀 first line\nthen [psg_1]."
  expect(text.slice(cite(text, sources)[0]?.at).startsWith("psg_1")).toBe(true)
})

const long: readonly [what: string, text: string][] = [
  ["brackets", "[".repeat(100_000)],
  ["marks", '"'.repeat(100_000)],
  ["markers", "[psg_1]".repeat(20_000)],
  ["one long bracket", `[${"a_1,".repeat(50_000)}`],
  ["marks of all kinds", `„“‘’'"«»5" s' `.repeat(10_000)],
  ["markers and quotes", `${'"twelve letters" '.repeat(2_000)}${"[psg_1]".repeat(10_000)}`],
  ["names without brackets", "psg_1 doc_ web_a ".repeat(10_000)],
  ["lines of markers", "[psg_1]\n\n".repeat(10_000)],
  ["links", "[a](".repeat(50_000)],
  ["spaces in a quote", `"a${" ".repeat(200_000)}b,${",".repeat(200_000)}c" [psg_1]`],
  ["dots in a quote", `"a${". ".repeat(100_000)}${".".repeat(100_000)}" [psg_1]`],
  ["backticks between words", `${"```x ".repeat(120_000)} [psg_1]`],
  ["markers in one quote", `"some words here that are long enough ${"psg_1, ".repeat(90_000)}"`],
  ["quotes before one marker", `${'"twelve letters" '.repeat(5_000)}[psg_1]`],
]
test.each(oneIn(3, long))("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  cite(text, sources)
  expect(worked()).toBeLessThan(10_000) // a search that restarts for each of them takes minutes
})
