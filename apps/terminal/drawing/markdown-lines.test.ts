import { expect, test } from "vitest"
import { lineText } from "../line.ts"
import { markdownLines, settledLength } from "./markdown-lines.ts"
import { widthOf } from "../wrap.ts"

const drawn = (text: string, width = 40) => markdownLines(text, width).map(lineText)

test("HTML is shown as its source", () => {
  expect(drawn('<script>alert(1)</script>\n\nand <b onclick="x">this</b>')).toEqual([
    "<script>alert(1)</script>",
    "",
    'and <b onclick="x">this</b>',
  ])
})

test("a formula is shown as its source, and so is a backslash without a meaning in Markdown", () => {
  const text = "So \\(a_1 * b_1 \\, c\\), $$x_1 _y_ z$$ and 50\\% of `\\(b\\)`; \\*stars\\*."
  expect(drawn(text, 200)).toEqual(["So \\(a_1 * b_1 \\, c\\), $$x_1 _y_ z$$ and 50\\% of \\(b\\); *stars*."])
  expect(drawn("- $|x|$\n\n| a |\n|---|\n| $|x|$ |")).toContain("• $|x|$")
})

test("a link shows its address, an image its alternative text", () => {
  expect(drawn("[click](https://evil.example) ![cat](https://evil.example/cat.png)", 80)).toEqual([
    "click (https://evil.example) [image: cat]",
  ])
  expect(drawn("https://example.org")).toEqual(["https://example.org"])
})

test("nested lists, quotes and tasks keep their indentation", () => {
  expect(drawn("1. one\n   - inner\n2. two\n\n> quoted\n> text\n\n- [x] done\n- [ ] open")).toEqual([
    "1. one",
    "   • inner",
    "2. two",
    "",
    "│ quoted",
    "│ text",
    "",
    "• [x] done",
    "• [ ] open",
  ])
})

test("no line is wider than the screen, whatever the text contains", () => {
  const text = `# ${"title ".repeat(20)}\n\n${"漢字".repeat(40)} ${"x".repeat(100)}\n\n- ${"word ".repeat(30)}\n\n| a | b |\n|---|---|\n| ${"c".repeat(90)} | ${"👩‍👩‍👧 ".repeat(20)} |\n\n\`\`\`\n${"code ".repeat(40)}\n\`\`\``
  for (const width of [20, 39, 80]) {
    for (const line of drawn(text, width)) expect(widthOf(line), line).toBeLessThanOrEqual(width)
  }
})

test("wrapping loses no text", () => {
  const words = Array.from({ length: 200 }, (_, index) => `w${index}`).join(" ")
  expect(drawn(words, 17).join(" ").split(/\s+/).join(" ")).toBe(words)
})

test.each([
  ["a paragraph that may go on", "One.\n\nTwo", "One.\n\n"],
  ["a paragraph that an empty line has ended", "One.\n\nTwo.\n\n", "One.\n\nTwo.\n\n"],
  ["a list that may go on after an empty line", "One.\n\n- a\n- b\n\n", "One.\n\n"],
  ["code that is still open", "One.\n\n```\na\n\nb\n", "One.\n\n"],
  ["nothing yet", "On", ""],
])("what will not change of a reply: %s", (_what, text, settled) => {
  expect(text.slice(0, settledLength(text))).toBe(settled)
})

test.each([
  ["quotes without room", `${"> ".repeat(45)}---`],
  ["quotes thousands deep", `${">".repeat(5000)} deep`],
  ["lists thousands deep", Array.from({ length: 500 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n")],
])("%s are shown, and nothing breaks", (_, text) => {
  const shown = markdownLines(text, 80)
  expect(shown.length).toBeGreaterThan(0)
  expect(settledLength(`${text}\n\nmore`)).toBeGreaterThanOrEqual(0)
})

test("the settled length counts the original text, also with CRLF line ends", () => {
  const settled = "One\r\ntwo\r\n\r\n```\r\na\r\nb\r\n```\r\n\r\n"
  const text = `${settled}and the last`
  expect(text.slice(0, settledLength(text))).toBe(settled)
  expect(settledLength(text.replaceAll("\r\n", "\n"))).toBe(settled.replaceAll("\r\n", "\n").length)
})
