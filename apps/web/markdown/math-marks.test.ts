import fc from "fast-check"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import ReactMarkdown from "react-markdown"
import { describe, expect, test } from "vitest"
import { gfmMarks, mathMarks } from "./math-marks.ts"
import { protectMath } from "../../../client/index.ts"

const formulasIn = (text: string, isOpen = false) =>
  (protectMath(text, isOpen).formulas ?? []).map(({ source }) => source)

/** As the page draws it: a formula is its source in a `var`. */
const html = (text: string, isOpen = false) => {
  const { text: given, formulas } = protectMath(text, isOpen)
  const remarkPlugins = formulas ? [gfmMarks, mathMarks(new Map(formulas.entries()))] : [gfmMarks]
  return renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, given))
}
const plain = (text: string) => html(text).replaceAll(/<[^>]*>/g, "")

test.each<[what: string, text: string, found: string[]]>([
  ["in brackets", "So \\(a_1 \\, b\\) and \\[\nx^2\n\\].", ["\\(a_1 \\, b\\)", "\\[\nx^2\n\\]"]],
  [
    "between dollars",
    "So $x$, $e^{i\\pi} = -1$ and $$\\int_0^1 x\\,dx$$.",
    ["$x$", "$e^{i\\pi} = -1$", "$$\\int_0^1 x\\,dx$$"],
  ],
  ["with an escaped dollar inside", "It is $x = \\$5$.", ["$x = \\$5$"]],
  ["letters of a triangle", "\\(ABC\\) and $AB$", ["\\(ABC\\)", "$AB$"]],
  ["in a table, with a bar", "| a |\n|---|\n| $|x|$ |", ["$|x|$"]],
  ["side by side", "$a$$b$", []],
  ["money is money", "It costs $5 and $10, US$7, $5-$10, from $3 to 4$, or $5,000.", []],
  ["names of a shell", "Set $HOME and $PATH, or $HOME:$PATH, or echo $$ and $$.", []],
  ["a number, a box and a link in brackets", "See \\[1\\], - \\[ \\] and \\[x\\], \\[a+b\\](c), \\(see below\\).", []],
  ["not across paragraphs", "A \\( b\n\nc \\) and $$\n\nd$$", []],
  ["not across lines between single dollars", "It is $a +\nb$.", []],
  ["code is code", "`$x$` and ``\\(a ` b\\)``\n\n```tex\n\\(a\\) $x$\n```\n$y$", ["$y$"]],
  ["code that is still open", "```tex\n\\(a\\) $x$", []],
  ["a tick alone is no code", "A ` and $x$.", ["$x$"]],
])("formulas: %s", (_, text, found) => {
  expect(formulasIn(text)).toEqual(found)
})

describe("text without formulas is not changed", () => {
  test.each([
    ["thin spaces and the like", "a\\,b \\; c\\: 50\\% of R\\&D \\{x\\}"],
    ["money", "It costs $5 and $10."],
    ["signs of our own", "\uE0F0\uE100\uE100 a$ \uE0F2"],
  ])("%s", (_, text) => {
    expect(plain(text)).toBe(text.replaceAll("&", "&amp;"))
  })

  test("what markdown has a use for is still escaped", () => {
    expect(plain("\\*a\\* \\_b\\_ 1\\. \\# \\[x\\] \\`c\\`")).toBe("*a* _b_ 1. # [x] `c`")
  })

  test("code, addresses and titles have every letter", () => {
    const text =
      '~~~ $m$\n$x$ \\, \\(a\\)\n~~~\n\n    \\(b\\) $y$\n\n[link](https://example.org/$z$ "$t$") https://example.org/$u$'
    const drawn = html(text)
    for (const part of [
      "$x$ \\, \\(a\\)",
      "\\(b\\) $y$",
      'href="https://example.org/$z$"',
      'title="$t$"',
      'href="https://example.org/$u$"',
    ])
      expect(drawn).toContain(part)
  })
})

test("markdown around a formula is read, inside it is not", () => {
  expect(html("**bold \\(a_1 * b_1 * c\\)** and *$x_1$*")).toBe(
    '<p><strong>bold <var data-tex="a_1 * b_1 * c" data-block="false">\\(a_1 * b_1 * c\\)</var></strong> and <em><var data-tex="x_1" data-block="false">$x_1$</var></em></p>',
  )
  expect(html("> so\n> $$\n> a > b\n> $$")).toContain('data-tex="\n a &gt; b\n " data-block="true"')
})

test("while a reply is written, an incomplete formula is shown as its source", () => {
  const whole = "So \\[ a_1 * b_1 * c \\] and $$ x_1 _y_ $$ end."
  for (let end = 4; end < whole.length; end++) {
    const drawn = html(whole.slice(0, end), true)
    expect(drawn).not.toMatch(/<em>|[\uE000-\uF8FF]/)
  }
  expect(formulasIn("So \\( a_1", true)).toEqual(["\\( a_1"])
  expect(protectMath("So \\( a_1", true).formulas?.[0]?.tex).toBeUndefined()
  expect(formulasIn("So \\( a_1", false)).toEqual([])
})

test("any text keeps all its letters, and placeholders are never visible", () => {
  const piece = fc.constantFrom(
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "$",
    "$$",
    "`",
    "```",
    "\n",
    "\n\n",
    "a",
    " ",
    "_",
    "*",
    "\\,",
    "|",
    "[",
    "](",
    ")",
    "> ",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, isOpen) => {
      const text = pieces.join("")
      const { text: made, formulas } = protectMath(text, isOpen)
      expect(made.length).toBe(text.length)
      expect(html(text, isOpen)).not.toMatch(/[\uE000-\uF8FF]/)
      for (const { source } of formulas ?? []) expect(text).toContain(source)
    }),
    { numRuns: 500 },
  )
})
