import { expect, test } from "vitest"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { reopen, say } from "../browser/talk.ts"

const visit = oneVisit()

test("reasoning is a moving line, then one that unfolds, also in a reopened conversation", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "Why?")
  model.think("").think("First **look**.\n\nThen <img src=x onerror=alert(1)>")
  const line = page.getByRole("article", { name: "Pawl" }).locator("summary")
  await line.filter({ hasText: /^Thinking \d+ s.*onerror/ }).waitFor()
  await line.press("Enter")
  await page.getByText("look", { exact: true }).waitFor()
  await line.press("Enter")
  model
    .thought("First **look**.\n\nThen <img src=x onerror=alert(1)>", { p: { sealed: "never" } })
    .write("Because.")
    .end()
  await page.getByText("Because.").waitFor()
  await line.filter({ hasText: /^Thought for \d+ s$/ }).waitFor()

  await reopen(page)
  await line.filter({ hasText: /^Thought for \d+ s$/ }).waitFor()
  expect(await page.getByText("look", { exact: true }).count()).toBe(0)
  await line.press("Enter")
  await page.getByText("look", { exact: true }).waitFor()
  expect(await page.locator("article img").count()).toBe(0)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.content()).not.toContain("never")
  expect(faults).toEqual([])
})
