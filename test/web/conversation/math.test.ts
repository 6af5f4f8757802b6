import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { protectMath } from "../../../client/index.ts"
import { countWork } from "../../support/worked.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { say } from "../browser/talk.ts"

const visit = oneVisit()

const TEXT =
  String.raw`The mass is \(E = mc^2 \, \mathbb{R}\), it costs $5 and $10, and 50\% is half.

$$\begin{aligned} \int_0^1 x\,dx &= \frac{1}{2} \\ a &= b \end{aligned}$$

\[ \sum_{i=1}^{n} i = \frac{n(n+1)}{2} \]

| formula | value |
|---|---|
| $|x|$ | 1 |

` + "`$code$`"

test("formulas are drawn, amounts of money and code are not, and copying returns the source", async () => {
  await using site = await Site.open({ model: scripted(says(TEXT)) })
  const { page, context, faults } = await site.visit()
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  await say(page, "Tell \\(me\\) $x$ and \\, more")
  const reply = page.getByRole("article", { name: "Pawl" }).last()
  await reply.locator("math").nth(3).waitFor()
  expect(await reply.locator("math").count()).toBe(4)
  expect(await reply.locator("math[display=block]").count()).toBe(2)
  const words = await reply.innerText()
  for (const part of ["it costs $5 and $10", "50\\% is half", "$code$"]) expect(words).toContain(part)
  expect(await reply.locator("math").first().textContent()).toContain("ℝ")
  // As tall as a fraction, not as a line of text.
  const box = await reply.locator("math[display=block]").last().boundingBox()
  expect(box?.height).toBeGreaterThan(30)
  expect(await page.getByRole("article", { name: "You" }).innerText()).toContain("Tell \\(me\\) $x$ and \\, more")
  await reply.getByRole("button", { name: "Copy this reply" }).click()
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(TEXT)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(faults).toEqual([])
})

const bomb = String.raw`\def\a{\b\b\b\b}\def\b{\c\c\c\c}\def\c{\d\d\d\d}\def\d{\e\e\e\e}\def\e{x\a}\a`
const HOSTILE = [
  bomb,
  "{".repeat(3900),
  String.raw`\sqrt{`.repeat(600),
  String.raw`\href{javascript:alert(1)}{x}`,
  String.raw`\includegraphics{http://evil.example/x.png}`,
  String.raw`\htmlStyle{background:url(http://evil.example/y)}{x}`,
  String.raw`\text{<img src=x onerror=alert(1)>}`,
  String.raw`\rule{9999em}{9999em}`,
  String.raw`\begin{unknown} x`,
  String.raw`x^2^3 = `,
]

test("a formula cannot run scripts, load resources or block the page; invalid ones are shown as source", async () => {
  const text =
    HOSTILE.map((tex) => `Before \\(${tex}\\) after.`).join("\n\n") + `\n\n$$${"{".repeat(100_000)}$$\n\nThe end.`
  const { page, faults } = await visit.begin(scripted(says(text)))
  await say(page, "go")
  const reply = page.getByRole("article", { name: "Pawl" }).last()
  // A page that loads after the reply shows its beginning; a page that was open shows all of it.
  const [more, end] = [reply.getByRole("button", { name: "Show all" }), page.getByText("The end.")]
  await more.or(end).first().waitFor()
  if (await more.isVisible()) await more.click()
  await end.waitFor()
  await expect.poll(() => reply.locator("math").count()).toBe(2)
  expect(await reply.locator(".prose").locator("img, a, script, style, [style], [href]").count()).toBe(0)
  // TeX's space is a different character from the keyboard's.
  const shown = (await reply.innerText()).replaceAll("\u00a0", " ")
  const written = [bomb, String.raw`\href{javascript:alert(1)}{x}`, "x^2^3 = ", String.raw`\begin{unknown} x`]
  for (const tex of written) expect(shown.includes(`Before \\(${tex}\\) after.`), tex).toBe(true)
  expect(shown.includes("<img src=x onerror=alert(1)>")).toBe(true)
  const widest = await page.evaluate(
    "document.querySelector('[role=log]').scrollWidth - document.querySelector('[role=log]').clientWidth",
  )
  expect(widest).toBeLessThan(5)
  expect(faults).toEqual([])
})

test("an unfinished formula is shown as source, and drawn when it is complete", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "go")
  const reply = page.getByRole("article", { name: "Pawl" }).last()
  model.write("So \\[ a_1 * b_1 *")
  await reply.getByText("\\[ a_1 * b_1 *").waitFor()
  expect(await reply.locator("em, math").count()).toBe(0)
  model.write(" c \\] and \\(x")
  await reply.locator("math").waitFor()
  await reply.getByText("\\(x").waitFor()
  model.write("\\) end.").end()
  await expect.poll(() => reply.locator("math").count()).toBe(2)
  expect(faults).toEqual([])
})

test.each([
  ["beginnings", "\\(".repeat(50_000)],
  ["beginnings with an end far away", `${"\\(a ".repeat(30_000)}\n\n\\)`],
  ["dollars", "$".repeat(100_000)],
  ["dollars and letters", "$a ".repeat(40_000)],
  ["braces", `$$${"{".repeat(100_000)}$$`],
  ["ticks", "`a``b```c".repeat(12_000)],
  ["ticks of all lengths", Array.from({ length: 400 }, (_, length) => "`".repeat(length)).join(" ")],
  ["ticks that begin a block", "\n```x ".repeat(20_000)],
  ["formulas", "$x$ ".repeat(25_000)],
])("a long text of nothing but %s is parsed in time", (_, text) => {
  const worked = countWork()
  const { formulas } = protectMath(`$x$ ${text}`, true)
  expect(worked()).toBeLessThan(2000)
  expect(formulas?.filter(({ tex }) => tex !== undefined).length ?? 0).toBeLessThanOrEqual(500)
})
