import { expect, test } from "vitest"
import { fails, finishes, replies, says } from "../../../src/models/scripted/script.ts"
import { always, scripted } from "../../../src/models/scripted/model.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { named } from "../../support/loop/several-models.ts"
import { oneVisit } from "../../support/web/one-visit.ts"
import { seriousFaultsInTurn } from "../../support/web/serious-faults.ts"
import { reopen, say } from "../../support/web/talk.ts"

const visit = oneVisit({ others: [named("other", always(says("I am the other one.")))], fallback: ["other"] })

const counted = (text: string, inputTokens: number) =>
  replies(says(text), finishes("stop", { inputTokens, outputTokens: 1000 }))

test("the meter says how full the conversation is, and sums it up; what gave way and what was kept unfolds", async () => {
  const paced = new PacedModel()
  const answers = scripted(counted("One.", 19_000), counted("Two.", 59_000))
  let asked = 0
  const model = {
    ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
    stream: (...given: Parameters<typeof paced.stream>) => (asked++ < 2 ? answers : paced).stream(...given),
  }
  const { page, faults } = await visit.begin(model)
  await say(page, `First? ${"x".repeat(60_000)}`)
  await page.getByText("One.", { exact: true }).waitFor()
  await page.getByRole("button", { name: "Context: 10% of 200k" }).waitFor()
  await say(page, "Second?")
  const meter = page.getByRole("button", { name: "Context: 30% of 200k" })
  await meter.waitFor()

  // By keys alone, as by a finger: it is a button, and not only what a mouse hovers over.
  await meter.focus()
  await page.keyboard.press("Enter")
  await page.getByText("The model is shown 60k tokens of 200k that it can read.").waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await page.keyboard.press("Enter")
  await page.getByText("Summing up what was said …").waitFor()
  paced.write("## Goal\nA trip to **Rome**. <img src=x>").end()

  const fold = page.locator("summary", { hasText: "What was said before was summed up here for the model." })
  await fold.waitFor()
  await expect.poll(() => page.getByRole("button", { name: /^Context: 30%/ }).count()).toBe(0)
  const shown = await page.getByRole("button", { name: /^Context:/ }).innerText()
  await reopen(page)
  await fold.waitFor()
  expect(await page.getByRole("button", { name: /^Context:/ }).innerText()).toBe(shown)
  await fold.focus()
  await page.keyboard.press("Enter")
  await page.getByText("2 messages gave way to it, which frees about").waitFor()
  await page.getByRole("heading", { name: "Goal" }).waitFor()
  await page.locator("strong", { hasText: "Rome" }).waitFor()
  await page.getByText("<img src=x>").waitFor()
  expect(faults).toEqual([])
})

test("that another model answered is told above its answer, with why, and told the same when it is opened again", async () => {
  const { page, faults } = await visit.begin(scripted(always(fails("quota_spent"))))
  await say(page, "Who are you?")
  const told = page.getByText("other answers instead of scripted, which had no quota left.")
  await told.waitFor()
  await page.getByText("I am the other one.").waitFor()
  await reopen(page)
  await told.waitFor()
  await page.getByText("I am the other one.").waitFor()
  expect(faults).toEqual([])
})
