import { beforeEach, expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import type { Source } from "../../../core/protocol/conversation/stages.ts"
import { grades, scores, search, source, stages } from "../../support/loop/stages.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { go } from "../browser/talk.ts"

const passage = `Images are split into patches. ${"And so on. ".repeat(40)}The end of it.`
const hostile = {
  ...source("p2", "<img src=x onerror=alert(1)> \u202e"),
  title: "<b>Bold</b>",
  url: "javascript:alert(1)",
}
const answer =
  'They are "split into patches" [p1], unlike "what nobody ever wrote down" [p2].\n\n' +
  "Some say more [p9]. `[p1]` is code, [p1](https://example.org) a link, <cite data-marker=p1>x</cite> nothing."

/** One passage is enough. */
const unhurried = { ...stages, grading: { ...stages.grading!, enough: 1 } }

/** The search results of a test. */
const shelf: Source[] = []
beforeEach(() => void (shelf.length = 0))
const visit = oneVisit({ tools: [search(shelf)], agent: { stages } })

/** Opens a conversation in which this model was asked. */
async function ask(model: Model) {
  const { ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test" })
  await ada.say(id, "what is known?")
  await go(page, `/c/${id}`)
  return { page, faults }
}

test("an answer shows its stages, its markers link to the passages, and made-up ones are flagged", async () => {
  const model = scripted(scores(95), calls("retrieve_chunks", { query: "p1 p2" }), grades(["p1", "p2"]), says(answer))
  shelf.push({ ...source("p1", passage), title: "On patches" }, hostile)
  const { page, faults } = await ask(model)

  const reply = page.getByRole("article", { name: "Pawl" }).last()
  const first = reply.getByRole("button", { name: "Source 1: On patches", exact: true })
  await first.waitFor()
  expect(await first.count()).toBe(1)
  await reply.getByRole("button", { name: /Source 2: .*does not appear in this passage/ }).waitFor()
  await reply.getByText("p9 (unknown source) ⚠").waitFor()
  expect(await reply.locator("code").textContent()).toBe("[p1]")

  await first.press("Enter")
  const card = reply.locator('[data-source="p1"][aria-current]:focus')
  await card.getByText("The end of it.").waitFor()
  expect(await reply.locator("[aria-current]").count()).toBe(1)
  await reply.locator(".citation.shown").waitFor()
  // They are shown once, with the answer. Results of a search are folded with it.
  expect(await page.getByRole("group", { name: "Sources" }).filter({ visible: true }).count()).toBe(1)

  await page.getByText(/^\d steps/).click()
  await page.getByText(/Guardrail · in scope · 95 of 100/).waitFor()
  await page.getByText(/Grading · 2 of 2 passages relevant · enough evidence/).waitFor()
  await page.getByText(/Generation · 3 citations · 2 flagged/).waitFor()
  expect(faults).toEqual([])
})

test("a true citation is not flagged because of a false one of the same source in the same answer", async () => {
  const text =
    'First \\[really\\]: "split into patches" [p1].\n\n- Then "what nobody ever wrote down" [p1].\n- And "The end of it." [p1]'
  const model = scripted(scores(95), calls("retrieve_chunks", { query: "p1" }), grades(["p1"]), says(text))
  shelf.push({ ...source("p1", passage), title: "On patches" })
  const { page, faults } = await ask(model)
  const marks = page.getByRole("article", { name: "Pawl" }).last().locator(".citation")
  await marks.nth(2).waitFor()
  const flagged = await marks.evaluateAll((all) => all.map((each) => each.getAttribute("class")?.includes("flagged")))
  expect(flagged).toEqual([false, true, false])
  await marks.nth(2).click()
  await page.locator('[data-source="p1"][aria-current]').waitFor()
  await marks.nth(1).click()
  const shown = await marks.evaluateAll((all) => all.map((each) => each.getAttribute("class")?.includes("shown")))
  expect(shown).toEqual([false, true, false])
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(faults).toEqual([])
})

test("a number links to the passage with that number in this conversation, and a list index does not", async () => {
  for (const id of ["p1", "p2", "p3"]) shelf.push({ ...source(id, `What ${id} says.`), title: `Paper ${id}` })
  const model = scripted(
    ...[scores(95), calls("retrieve_chunks", { query: "p1" }), grades(["p1"])],
    ...[calls("retrieve_chunks", { query: "p2 p3" }), grades(["p2", "p3"]), says("Take a[3], and see [3] and [9].")],
  )
  const { page, faults } = await ask(model)
  const reply = page.getByRole("article", { name: "Pawl" }).last()
  const mark = reply.getByRole("button", { name: "Source 3: Paper p3", exact: true })
  await mark.waitFor()
  expect(await mark.count()).toBe(1)
  expect(await mark.textContent()).toBe("3")
  await reply.getByText("9 (unknown source) ⚠").waitFor()
  await reply.getByText("Take a[3], and see").waitFor()
  await mark.click()
  const card = reply.locator('[data-source="p3"][aria-current]')
  await card.getByText("3. ").first().waitFor()
  expect(faults).toEqual([])
})

test("an answer that cites none of the results says so below its text", async () => {
  const text =
    "It is well known that the images are split into small patches, that this is how they are read from the beginning to the very end, and that there is nothing else to be done with them, ever."
  const model = scripted(scores(95), calls("retrieve_chunks", { query: "p1" }), grades(["p1"]), says(text))
  const told = "Images are split into patches from their beginning; small ones are read like words."
  await using site = await Site.open({ model, tools: [search([source("p1", told)])], agent: { stages: unhurried } })
  const ada = await site.ada()
  const id = await ada.begin({ agent: "test" })
  await ada.say(id, "what is known?")
  const { page, faults } = await site.visit({}, `/c/${id}`)
  const reply = page.getByRole("article", { name: "Pawl" }).last()
  await reply.getByText("This answer cites none of the sources found").waitFor()
  expect(faults).toEqual([])
})
