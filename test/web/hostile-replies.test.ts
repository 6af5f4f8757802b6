import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { PacedModel } from "../support/loop/paced-model.ts"
import { isLong, oneIn } from "../support/sizes.ts"
import { repeated } from "../support/slow-texts.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { reopen, say } from "./browser/talk.ts"

/** The longest reply that a reload still shows whole, with its surroundings. */
const LENGTH = 99_000
/** Each piece redraws all text before it. */
const PIECES = isLong ? 50 : 12

/** Checks that the tab responds: it runs a script and handles a click. */
const isAwake = (page: Page) => page.evaluate("1 + 1")

const visit = oneVisit()

// Each takes seconds: half of them by the seed, all in the long run. The cost of reading any of them is bounded in
// `client/reading-cost.test.ts`.
test.each(oneIn(2, ["[\r", "[^[", "*_", "1. "]))(
  "a reply of nothing but %j leaves the tab responsive, also after reopening",
  async (piece) => {
    const model = new PacedModel()
    const { page, faults } = await visit.begin(model)
    await say(page, "go")
    const text = `Before.\n\n${repeated(piece, LENGTH)}`
    const size = Math.ceil(text.length / PIECES)
    for (let at = 0; at < text.length; at += size) {
      model.write(text.slice(at, at + size))
      expect(await isAwake(page)).toBe(2)
    }
    model.write("\n\nThe **end**.").end()
    await page.locator("strong", { hasText: "end" }).waitFor()
    await page.getByRole("button", { name: "Copy this reply" }).waitFor({ state: "attached" })

    await reopen(page)
    await page.locator("strong", { hasText: "end" }).waitFor()
    expect(await isAwake(page)).toBe(2)
    expect(faults).toEqual([])
  },
)
