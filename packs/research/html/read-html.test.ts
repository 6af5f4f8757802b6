import { describe, expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { readHtml } from "./read-html.ts"

const textOf = (html: string) => readHtml(html).text.trim()

describe("superscript and subscript", () => {
  test.each([
    ["10<sup>4</sup> cells", "10^4 cells"],
    ["10<sup>-3</sup> m", "10^-3 m"],
    ["10<sup>−3</sup> m", "10^−3 m"],
    ["x<sup>n+1</sup>", "x^(n+1)"],
    ["(a+b)<sup>2</sup>", "(a+b)^2"],
    ["e<sup>x<sup>2</sup></sup>", "e^(x^2)"],
    ["<p>a<sup>&nbsp;2&nbsp;</sup>b</p>", "a^2b"],
    ["<b>10</b><sup><i>4</i></sup>", "10^4"],
    ["H<sub>2</sub>O and CO<sub>2</sub>", "H2O and CO2"],
    ["SO<sub>4</sub><sup>2-</sup>", "SO4^(2-)"],
    ["x<sub>i</sub>", "x_i"],
    ["x<sub>i+1</sub>", "x_(i+1)"],
  ])("%s reads %s", (html, text) => expect(textOf(html)).toBe(text))

  test.each([
    ["the 21<sup>st</sup> century", "the 21st century"],
    ["the 4<sup>th</sup> of May", "the 4th of May"],
    ["Pawl<sup>TM</sup> and Wing<sup>®</sup>", "PawlTM and Wing®"],
    ["as was shown<sup>[12]</sup>", "as was shown[12]"],
    ["<sup>4</sup>He", "4He"],
    ["see <sup>a</sup>", "see a"],
    [`x<sup>${"long words ".repeat(10)}</sup>`, `x${"long words ".repeat(10).trim()}`],
    ["x<sup></sup>y", "xy"],
  ])("%s is not a power: %s", (html, text) => expect(textOf(html)).toBe(text))
})

describe("a formula", () => {
  test.each([
    [
      "its TeX",
      '<math><semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">E=mc^{2}</annotation></semantics></math>',
      "E=mc^{2}",
    ],
    ["what it is called", '<math alttext="{\\displaystyle a^{2}}"><mi>a</mi></math>', "a^{2}"],
    ["its signs", "<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "E=mc^2"],
    ["a fraction", "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac></math>", "(a+1)/b"],
    [
      "a root",
      "<math><msqrt><mi>x</mi></msqrt><mo>+</mo><mroot><mi>y</mi><mn>3</mn></mroot></math>",
      "√(x)+root(y, 3)",
    ],
    [
      "bounds",
      "<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub></math>",
      "∑_i^nx_i",
    ],
    ["words", "<math><mtext>if </mtext><mi>x</mi></math>", "if x"],
    [
      "rows",
      "<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable></math>",
      "1, 0; 0, 1",
    ],
  ])("is read as %s", (_, math, text) => expect(textOf(`<p>Let ${math} be.</p>`)).toBe(`Let ${text} be.`))

  test("on its own line stays there, and a second visual copy is ignored", () => {
    expect(textOf('So <math display="block"><mi>x</mi></math> holds.')).toBe("So \n\nx\n\nholds.")
    const katex =
      '<span class="katex"><span class="katex-mathml"><math><mi>x</mi></math></span><span class="katex-html" aria-hidden="true"><b>x</b></span></span>'
    expect(textOf(`Take ${katex} twice.`)).toBe("Take x twice.")
  })

  test("that is hostile is read in linear time, and does not hide the text after it", () => {
    const worked = countWork()
    const deep = `<math>${"<msup><mi>x</mi>".repeat(900)}`
    expect(textOf(`${deep}</math> after`)).toContain("after")
    textOf(`<math>${"<mi>x</mi>".repeat(200_000)}</math>`)
    textOf("<sup>".repeat(1900) + "x".repeat(1_000_000))
    textOf("1<sup>2</sup>".repeat(100_000))
    expect(textOf("<math><script>steal()</script><mi>x</mi></math>")).not.toContain("steal")
    expect(worked()).toBeLessThan(5000)
  })
})
