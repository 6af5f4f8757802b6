import { expect, test } from "vitest"
import { oneIn } from "../test/support/sizes.ts"
import { slowMarkdown } from "../test/support/slow-texts.ts"
import { countWork } from "../test/support/worked.ts"
import { MAX_READING_COST, readingCost } from "./reading-cost.ts"

const prose =
  "Some *words* of a [reply](https://example.org/a-page), as **models** write them: with `code`, and so on.\n"

test.each([
  ["fifty paragraphs", `${prose.repeat(8)}\n`.repeat(50)],
  ["a list of three hundred links", `- ${prose}`.repeat(300)],
  ["a numbered list of three hundred lines", Array.from({ length: 300 }, (_, at) => `${at + 1}. ${prose}`).join("")],
  [
    "a table of three hundred rows",
    `${"|a".repeat(8)}|\n${"|-".repeat(8)}|\n${"| some words ".repeat(8)}|\n`.repeat(100),
  ],
  ["a long program", `\`\`\`ts\n${"  const a = b[c](d) || *e_f // [\n".repeat(5000)}\`\`\`\n`],
])("%s is read", (_, text) => {
  expect(readingCost(text)).toBeLessThan(MAX_READING_COST)
})

test.each(oneIn(3, slowMarkdown(400_000)))(
  "a long text of only %s is measured in time, and costs too much",
  (name, text) => {
    const worked = countWork()
    const cost = readingCost(text)
    expect(worked()).toBeLessThan(2000)
    // Characters without special meaning count as words.
    if (name !== JSON.stringify("\u0000")) expect(cost).toBeGreaterThan(MAX_READING_COST)
  },
)

test.each([
  ["code that ends with the list it stands in", "- a\n\n  ```\n\n"],
  ["ticks within HTML", "<div>\n```\n\n"],
  ["ticks that begin no code", "``` a`\n"],
  ["code that one parser ends and another does not", "```\n```~\n"],
  ["a mark at the beginning of a file", "\uFEFF```\n```\n"],
])("%s hides nothing from the cost", (_, before) => {
  expect(readingCost(`${before}${"*_".repeat(50_000)}`)).toBeGreaterThan(MAX_READING_COST)
})
