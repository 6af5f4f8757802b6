import { describe, expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { countWork } from "../../../test/support/worked.ts"
import { cite } from "./cite.ts"

const passages = {
  1: "Manuka honey is not effective in deep wounds, and it is cheap to make. In a trial of 120 patients it helped most of them. The authors praise its taste and its colour above all.",
  2: "Honig ist bei tiefen Wunden nicht wirksam, aber er ist billig. Die Autoren loben vor allem den Geschmack und die Farbe des Honigs.",
  3: "Selon eux le miel n'est pas efficace dans les plaies profondes, mais il est peu cher et les auteurs en louent le goût.",
  4: "Dicen que la miel nunca es eficaz en heridas profundas, pero es barata y los autores alaban su sabor en general.",
  5: "Мёд дёшев в производстве. Его едят дети. Авторы хвалят его вкус. Мёд не эффективен при глубоких ранах.",
  6: "蜂蜜は深い傷に対しては効果がないのである。しかし製造は安価であり、著者はその味を称賛している。",
}
const sources = new Map<string, Source>(
  Object.entries(passages).map(([n, passage]) => [n, { id: `psg_${n}`, title: "Honey and deep wounds", passage }]),
)
const told = (text: string) => cite(text, sources).map(({ problem, because }) => because ?? problem ?? "bound")

describe("a quote whose dots turn it round is flagged", () => {
  test.each([
    ["English", '"Manuka honey is … effective in deep wounds" [1]'],
    ["with dots in brackets", '"Manuka honey is [...] effective in deep wounds" [1]'],
    ["as a block", "> Manuka honey is ... effective in deep wounds [1]"],
    ["German", "„Honig ist bei tiefen Wunden … wirksam, aber er ist billig“ [2]"],
    ["French", "« Selon eux le miel n'est … efficace dans les plaies » [3]"],
    ["Spanish", "«Dicen que la miel … es eficaz en heridas» [4]"],
    ["a number left out", '"it is cheap to make. In a trial … it helped most of them" [1]'],
    ["a language that we do not judge", "«Авторы хвалят его вкус. Мёд … эффективен при глубоких ранах» [5]"],
    ["and one without spaces", "「蜂蜜は深い傷に対しては効果が…のである。しかし製造は安価であり」 [6]"],
  ])("%s", (_, text) => {
    expect(told(text)).toEqual(["left_out"])
  })

  test("and the reader is shown what was left out", () => {
    const [turned] = cite('"Manuka honey is … effective in deep wounds" [1]', sources)
    expect(turned).toMatchObject({ problem: "quote_not_found", because: "left_out", leftOut: ["not"] })
    const [harmed] = cite('"it is cheap to make. In a trial … it helped most of them" [1]', sources)
    expect(harmed).toMatchObject({ problem: "quote_not_found", because: "left_out", leftOut: ["of 120 patients"] })
    const [good] = cite('"The authors praise its taste … colour above all" [1]', sources)
    expect(good).toMatchObject({ leftOut: ["and its"] })
    expect(good?.problem).toBeUndefined()
  })
})

describe("a made-up quote is flagged", () => {
  test.each([
    ["in <q>", "They say <q>honey cures everything at once</q> [1]."],
    ["in <blockquote>", "<blockquote>Honey cures everything at once</blockquote> [1]"],
    ["with attributes, in capitals", '<BLOCKQUOTE cite="x">Honey cures everything at once</BLOCKQUOTE> [1]'],
    ["in full-width marks", "＂honey cures everything at once＂ [1]"],
    ["in corner brackets", "「honey cures everything at once」 [1]"],
    ["in double ones", "『honey cures everything at once』 [1]"],
    ["in half-width ones", "｢honey cures everything at once｣ [1]"],
    ["in ornaments", "❝honey cures everything at once❞ [1]"],
    ["not closed, English", "They say “honey cures everything at once [1]."],
    ["not closed, German", "Sie sagen „honey cures everything at once [1]."],
    ["not closed, French", "Ils disent « honey cures everything at once [1]."],
    ["not closed, Japanese", "「honey cures everything at once [1]"],
    ["not closed, on two lines", "“Honey is not effective in deep wounds [1].\n“honey cures everything at once [1]."],
  ])("%s", (_, text) => {
    expect(told(text)).toContain("quote_not_found")
  })
})

describe("a good one is not", () => {
  test.each([
    ["in <q>", "They say <q>it is cheap to make</q> [1]."],
    ["in <blockquote>, over lines", "<blockquote>\nHoney is not effective\nin deep wounds\n</blockquote> [1]"],
    ["with marks inside the tag", '<blockquote>"Honey is not effective in deep wounds"</blockquote> [1]'],
    ["in full-width marks", "＂it is cheap to make＂ [1]"],
    ["not closed", "They say “Honey is not effective in deep wounds [1]."],
    ["not closed, in German marks", "Sie sagen „Honig ist bei tiefen Wunden nicht wirksam [2]."],
    ["with harmless words left out", '"The authors praise its taste … colour above all" [1]'],
    ["German, harmless", "„Die Autoren loben vor allem … Farbe des Honigs“ [2]"],
    [
      "whole sentences left out in a language that we do not judge",
      "«Мёд дёшев в производстве. … Авторы хвалят его вкус.» [5]",
    ],
    ["with the negation kept", '"honey is not effective … it is cheap to make" [1]'],
    ["the title of its source", 'See "Honey and deep wounds" [1].'],
    ["in single words", "It is “effective” only in “cheap” trials [1]."],
    ["an apostrophe and an inch", `The authors' 5" jar isn't "cheap" [1].`],
  ])("%s", (_, text) => {
    expect(told(text)).toEqual(told(text).map(() => "bound"))
  })
})

test.each([
  ["openers", `${"“".repeat(200_000)} [1]`],
  ["openers and brackets", "“twelve letters [1] ".repeat(3_000)],
  ["tags", "<q ".repeat(100_000)],
  ["tags that close nothing", "</q>".repeat(50_000)],
  ["full-width marks", "＂a".repeat(100_000)],
  ["pieces", `"${"Honey is not … ".repeat(20_000)}" [1]`],
])("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  cite(text, sources)
  expect(worked()).toBeLessThan(10_000)
})
