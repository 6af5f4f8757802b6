import { describe, expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { isLong, oneIn } from "../../../test/support/sizes.ts"
import { countWork } from "../../../test/support/worked.ts"
import { cite, unmarked } from "./cite.ts"
import { citesNothing } from "./cites-nothing.ts"
import { createWork } from "./work-limit.ts"

/**
 * A reply may have a megabyte. An eighth shows as well whether the work is bounded: without a bound, each takes
 * minutes.
 */
const LENGTH = isLong ? 1_000_000 : 120_000
/** Milliseconds on a common processor: ten times the usual time. Without a bound it takes minutes. */
const MOST_WORK = LENGTH / 20
const passage = (n: number) => `Passage ${n} says so. ${`The word${n} of a long passage, and more of it. `.repeat(200)}`
const many = new Map<string, Source>(
  Array.from({ length: 300 }, (_, n) => [String(n + 1), { id: `psg_${n}`, title: `Paper ${n}`, passage: passage(n) }]),
)
const same = new Map<string, Source>([["1", { id: "psg_1", title: "a", passage: "a".repeat(20_000) }]])
const all = [...many.keys()].map((number) => `[${number}]`).join("")
const fill = (text: string, rest = "") => text.repeat(Math.floor((LENGTH - rest.length) / text.length)) + rest
const made = (n: number) => `"what ${n} nobody has said" `

describe("a long reply is read with bounded work", () => {
  const replies: [string, string, ReadonlyMap<string, Source>][] = [
    ["quotes before all markers", fill(made(1), all), many],
    ["quotes in pieces", fill('"nobody has said … what nobody has … ever said at all" ', all), many],
    ["lines of quotes with ranges", fill('"nobody has ever said so" [1-20]\n\n'), many],
    ["ranges alone", fill("[1-20]"), many],
    ["block quotes", fill("> nobody has ever said so at all\n", `> so ${all}`), many],
    ["italics", fill("They say *nobody has ever said so at all* ", all), many],
    ["numbers before all markers", fill("177 ", all), many],
    ["numbers and one marker again and again", `${"177 ".repeat(LENGTH / 10)}${"[1]a".repeat(LENGTH / 10)}`, many],
    ["a long quote and its marker again and again", `"${"b".repeat(LENGTH / 2)}" ${"[1]".repeat(LENGTH / 6)}`, many],
    ["quotes that nearly stand there", fill(`"b${"a".repeat(9_000)}" [1] `), same],
    ["quotes that stand inside a word everywhere", fill(`"${"a".repeat(9_000)}" [1] `), same],
  ]
  test.each(oneIn(5, replies))("%s", (_, text, sources) => {
    const worked = countWork()
    const found = cite(text, sources)
    unmarked(text, sources)
    expect(worked()).toBeLessThan(MOST_WORK)
    expect(JSON.stringify(found).length).toBeLessThan(20_000_000)
  })

  test("also where none of the quotes has a marker", () => {
    const worked = countWork()
    unmarked(fill('They say "honey cures every wound in a single day". '), many)
    unmarked(fill("They say:\n\n> honey cures every wound in a single day\n\n"), many)
    expect(worked()).toBeLessThan(MOST_WORK)
  })
})

describe("long passages are read with bounded work", () => {
  const words =
    "Honey cures 12 of 20 wounds in 3 days at 37 °C, at 5 mg per kg of body mass. Trials didn’t show 4.5 km of harm; "
  const of = (count: number, length: number, text = words) =>
    new Map(
      Array.from({ length: count }, (_, n): [string, Source] => [
        String(n + 1),
        { id: `psg_${n}`, title: `Paper ${n}`, passage: text.repeat(length / text.length) },
      ]),
    )
  const sentences = (count: number) =>
    Array.from({ length: count }, (_, n) => `It says 17 "honey is the best of all the medicine" [${n + 1}].`).join(
      "\n\n",
    )
  const passages: [string, ReadonlyMap<string, Source>][] = [
    ["many", of(90, 30_000)],
    ["one that is very long", of(1, 2_700_000)],
    ["a long one of figures", of(1, 2_700_000, "1 mg 2 km 3 kg ")],
    ["a long one in Chinese", of(1, 2_700_000, "蜂蜜治疗伤口很有效。")],
  ]
  test.each(passages)("%s", (_, sources) => {
    const [work, worked] = [createWork(), countWork()]
    cite(sentences(sources.size), sources, "", work)
    unmarked('They say "honey cures every wound in a single day". ', sources, "", work)
    expect(worked()).toBeLessThan(1_500)
    expect(work.unchecked).toBeGreaterThan(0)
    citesNothing("Honey cures wounds quickly. ".repeat(30), [...sources.values()], "")
  })

  test("and those of a usual answer all are", () => {
    const work = createWork()
    const found = cite(sentences(90), of(90, 2_000), "", work)
    expect([work.unchecked, found.filter(({ unchecked }) => unchecked).length]).toEqual([0, 0])
    expect(found.every(({ problem }) => problem === "quote_not_found")).toBe(true)
  })
})

describe("the report counts what exceeds the limit", () => {
  const text = `${made(1).repeat(20)}${all}\n\n"what 2 nobody has said" [2], and "Passage 6 says so." [7]`
  const told = (most: number) => {
    const work = createWork(most)
    const found = cite(text, many, "", work).slice(-2)
    return { work, found: found.map(({ problem, unchecked }) => problem ?? (unchecked ? "unchecked" : "bound")) }
  }

  test("by count, the same each time, and no more than the bound is compared", () => {
    const [one, other] = [told(1_000_000), told(1_000_000)]
    expect(one.work.spent).toBeLessThanOrEqual(1_000_000)
    expect(one.work.spent).toBe(other.work.spent)
    expect(one.work.unchecked).toBe(other.work.unchecked)
    expect(one).toMatchObject({ found: ["unchecked", "unchecked"], work: { unchecked: 24 } })
  })

  test("and what is within it is judged as ever", () => {
    expect(told(1_000_000_000)).toMatchObject({ found: ["quote_not_found", "bound"], work: { unchecked: 0 } })
    const work = createWork()
    const long = Array.from({ length: 100 }, (_, n) => `It says "Passage ${n} says so." [${n + 1}], [1-20].`).join(
      "\n\n",
    )
    // The usual length of a search's passages. Reading longer ones exceeds the bound.
    const usual = new Map(
      Array.from(many, ([n, source]) => [n, { ...source, passage: source.passage.slice(0, 2_000) }]),
    )
    expect(cite(long, usual, "", work).filter(({ problem, unchecked }) => problem ?? unchecked)).toEqual([])
    expect(work.unchecked).toBe(0)
  })

  test("reading the cited passages counts, and stops at the bound", () => {
    const [little, enough] = [createWork(100_000), createWork(1_000_000)]
    for (const work of [little, enough]) cite("Honey cures wounds [1].", many, "", work)
    expect([little.unchecked, enough.unchecked]).toEqual([1, 0])
  })

  test("of quotes without a marker and of markers too", () => {
    const work = createWork()
    const quotes = unmarked('They say "honey cures every wound in a single day". '.repeat(70), same, "", work)
    expect([quotes.length, work.unchecked]).toEqual([50, 20])
    const counted = createWork()
    expect([cite("So [1]. ".repeat(6_000), many, "", counted).length, counted.unchecked]).toEqual([5_000, 1_000])
  })
})
