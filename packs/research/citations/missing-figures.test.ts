import { describe, expect, test } from "vitest"
import { oneIn } from "../../../test/support/sizes.ts"
import { countWork } from "../../../test/support/worked.ts"
import type { Source } from "../../../core/pack.ts"
import { cite } from "./cite.ts"

const passages = {
  1: "In 2019 the trial had 1,234 patients in three groups. Mortality fell from 30.4% to 24.6 %, with a dose of 300 mg for twelve weeks. It cost $1.2 million.",
  2: "Die Studie umfasste 1.234 Patienten; die Kosten lagen bei 2,5 Millionen Euro. Fünfzig Prozent wurden geheilt.",
  3: "On ImageNet with 14 million images it reaches 88.55% at 224×224 pixels. Twenty-five classes were left out. See 10 000 labels.",
}
const sources = new Map<string, Source>(
  Object.entries(passages).map(([n, passage]) => [
    n,
    { id: `psg_${n}`, title: "A trial of 2019", passage, date: "2019-05-01" },
  ]),
)
const flagged = (text: string, said = "") => cite(text, sources, said).flatMap(({ figures = [] }) => figures)

describe("a number that stands nowhere in its source is flagged", () => {
  test.each([
    ["a plain one", "The trial had 1,500 patients [1].", ["1,500"]],
    ["a percentage", "Mortality fell by 45% [1].", ["45"]],
    ["with its marker behind the full stop", "Mortality fell to 21.6%. [1]", ["21.6"]],
    ["behind its marker", "[1] reports 400 mg as the dose.", ["400"]],
    ["in an item of a list", "1. The dose was 450 mg [1].", ["450"]],
    ["in German", "Die Studie umfasste 1.243 Patienten [2].", ["1.243"]],
    ["a small one with a unit", "The dose was 5 mg [1].", ["5"]],
    ["in a table", "| dose | 450 mg | [1] |", ["450"]],
    ["of another source", "It reaches 88.55% [1].", ["88.55"]],
    ["a million too many", "It cost $3.2 million [1].", ["3.2"]],
  ])("%s", (_, text, found) => {
    expect(flagged(text)).toEqual(found)
  })
})

describe("a good answer stays clean:", () => {
  test.each([
    ["as it stands there", "The trial had 1,234 patients, and mortality fell from 30.4% to 24.6% [1]."],
    ["without separators", "The trial had 1234 patients [1]."],
    ["with other ones", "Die Studie hatte 1,234 Patienten [2], also 1 234 [2] und 1’234 [2]."],
    ["German source, English answer", "The study had 1,234 patients and cost 2.5 million euros [2]."],
    ["spaces before the percent", "Mortality fell to 24.6 % [1]."],
    ["words in the source", "It had 3 groups, for 12 weeks [1]; 50% were healed [2]; 25 classes were left out [3]."],
    ["rounded", "Mortality fell from about 30% to roughly 25% [1]."],
    ["rounded without saying so", "Mortality fell to 25% [1]."],
    ["in other units of thousand", "It cost $1,200,000 [1], with 14,000,000 images [3] and 10,000 labels [3]."],
    ["a difference", "Mortality fell from 30.4% to 24.6%, by 5.8 points [1]."],
    ["years and dates", "In 2021, on 12 May 2022 and on 2023-01-15 at 14:30, others said so too [1]."],
    ["lists and figures", "13. See Figure 14, Table 15, page 160 and section 17.2 [1]."],
    ["names", "GPT-40, COVID-19, ViT-B/16, H2O, p53 and arXiv 2401.00001 are named [1]."],
    ["counts", "There are 4 reasons, 2 of them good [1]."],
    ["markers", "So they say [1], [2, 3], and more [1-3]."],
    ["what the person asked", "At 900 mg nothing is known [1].", "What about 900 mg?"],
    ["a sentence without a source", "Elsewhere 777 patients are named. The dose was 300 mg [1]."],
    ["several sources", "From 1,234 patients to 14 million images [1][3]."],
    ["code and addresses", "Run `train --epochs 900` from https://example.org/555 [1]."],
    ["dimensions", "It reads 224×224 pixels [3]."],
    ["an address in the source's title", "A trial of 2019 said so [1]."],
  ])("%s", (_, text, said = "") => {
    expect(flagged(text, said)).toEqual([])
  })
})

const long: readonly [what: string, text: string][] = [
  ["numbers", `${"1,234,567 ".repeat(30_000)} [1]`],
  ["digits", `${"1".repeat(300_000)}a [1]`],
  ["separators", `${"1,".repeat(200_000)} [1]`],
  ["sentences", "It had 900 patients [1]. ".repeat(10_000)],
  ["full stops", `${". ".repeat(200_000)}A [1]`],
  ["brackets", `${"[1".repeat(50_000)} 900 [1]`],
  ["markers behind full stops", `It is 900. ${"[1]. ".repeat(20_000)}`],
]
test.each(oneIn(3, long))("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  cite(text, sources)
  expect(worked()).toBeLessThan(10_000)
})
