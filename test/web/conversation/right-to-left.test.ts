import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { say } from "../browser/talk.ts"

const visit = oneVisit()

test("code in a right-to-left reply is left-to-right and unchanged", async () => {
  const reply = "مرحبا بالعالم. هذا مثال مع `go(1);` في السطر:\n\n```js\nrun(2);\n```\n\nانتهى."
  const { page, faults } = await visit.begin(scripted(says(reply)))
  await say(page, "مرحبا")
  await page.getByText("انتهى.").waitFor()
  /** The letters of each piece of code, in visual order. */
  const shown = await page.evaluate(`[...document.querySelectorAll(".prose code")].map((code) => {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    const letters = []
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let at = 0; at < node.data.length; at++) {
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + 1)
        letters.push([range.getBoundingClientRect().left, node.data[at]])
      }
    return letters.sort((a, b) => a[0] - b[0]).map(([, letter]) => letter).join("").trim()
  })`)
  expect(shown).toEqual(["go(1);", "run(2);"])
  // And its text is still right-to-left.
  expect(await page.evaluate(`getComputedStyle(document.querySelector(".prose > div p")).direction`)).toBe("rtl")
  expect(faults).toEqual([])
})

test("lists, quotes and tables of a right-to-left reply start at the right", async () => {
  const { page, faults } = await visit.begin(
    scripted(says("مرحبا\n\n- أول\n\n> قول\n\n| اسم |\n|---|\n| أحمد |\n\nانتهى.")),
  )
  await say(page, "مرحبا")
  await page.getByText("انتهى.").waitFor()
  const styles = await page.evaluate(`["ul", "blockquote", "td"].map((name) => {
    const { paddingLeft, paddingRight, borderLeftWidth, textAlign } = getComputedStyle(document.querySelector(".prose " + name))
    return [name, parseFloat(paddingLeft) > 0, parseFloat(paddingRight) > 0, borderLeftWidth, textAlign]
  })`)
  expect(styles).toEqual([
    ["ul", false, true, "0px", "start"],
    ["blockquote", false, true, "0px", "start"],
    ["td", true, false, "0px", "start"],
  ])
  expect(faults).toEqual([])
})
