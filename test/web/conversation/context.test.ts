import { expect, test } from "vitest"
import { fails, finishes, replies, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { named } from "../../support/loop/several-models.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { reopen, say } from "../browser/talk.ts"

const visit = oneVisit({ others: [named("other", always(says("I am the other one.")))], fallback: ["other"] })

const counted = (text: string, inputTokens: number) =>
  replies(says(text), finishes("stop", { inputTokens, outputTokens: 1000 }))

test("the meter shows how full the conversation is, and compacts it; removed and retained parts unfold", async () => {
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

  // By keyboard alone, as by touch: it is a button, not only a hover target.
  await meter.focus()
  await page.keyboard.press("Enter")
  await page.getByText("The model receives 60k of 200k possible tokens.").waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await page.keyboard.press("Enter")
  await page.getByText("Summarizing earlier messages…").first().waitFor()
  paced.write("## Goal\nA trip to **Rome**. <img src=x>").end()

  const fold = page.locator("summary", { hasText: "Earlier messages were summarized here for the model." })
  await fold.waitFor()
  await expect.poll(() => page.getByRole("button", { name: /^Context: 30%/ }).count()).toBe(0)
  const shown = await page.getByRole("button", { name: /^Context:/ }).innerText()
  await reopen(page)
  await fold.waitFor()
  expect(await page.getByRole("button", { name: /^Context:/ }).innerText()).toBe(shown)
  await fold.focus()
  await page.keyboard.press("Enter")
  await page.getByText("instead of 2 earlier messages").waitFor()
  await page.getByRole("heading", { name: "Goal" }).waitFor()
  await page.locator("strong", { hasText: "Rome" }).waitFor()
  await page.getByText("<img src=x>").waitFor()
  expect(faults).toEqual([])
})

test("an answer by another model shows which one and why, also after reopening", async () => {
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

test("a conversation that is too long for its model offers remedies, each with one click", async () => {
  const { page, faults } = await visit.begin(scripted(says("One."), always(fails("context_overflow"))))
  await say(page, "First?")
  await page.getByText("One.", { exact: true }).waitFor()
  await say(page, "Too much?")
  await page.getByText("The conversation is too long").waitFor()
  const { pathname } = new URL(page.url())
  expect(await page.getByRole("link", { name: "New conversation" }).last().getAttribute("href")).toBe("/")
  await reopen(page)
  await page.getByRole("button", { name: "Summarize", exact: true }).click()
  await page.getByText(/^There is nothing to summarize yet|summarized here for the model/).waitFor()
  await page.getByRole("button", { name: "Branch before your last message" }).click()
  await page.waitForURL((url) => url.pathname !== pathname && url.pathname.startsWith("/c/"))
  await page.getByText("One.", { exact: true }).waitFor()
  expect(await page.getByRole("article", { name: "You" }).getByText("Too much?").count()).toBe(0)
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Too much?")
  expect(faults).toEqual([])
})
