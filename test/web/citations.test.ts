import { expect, test } from "vitest"
import { calls, says } from "../../src/models/script.ts"
import { scripted } from "../../src/models/scripted.ts"
import { grades, scores, search, source, stages } from "../stages.ts"
import { Site } from "./site.ts"

const passage = `Images are split into patches. ${"And so on. ".repeat(40)}The end of it.`
const hostile = {
  ...source("p2", "<img src=x onerror=alert(1)> \u202e"),
  title: "<b>Bold</b>",
  url: "javascript:alert(1)",
}
const answer =
  'They are "split into patches" [p1], unlike "what nobody ever wrote down" [p2].\n\n' +
  "Some say more [p9]. `[p1]` is code, [p1](https://example.org) a link, <cite data-marker=p1>x</cite> nothing."

test("an answer shows its stages, its markers lead to the passages, and made-up ones are marked", async () => {
  const model = scripted(scores(95), calls("retrieve_chunks", { query: "p1 p2" }), grades(["p1", "p2"]), says(answer))
  const tools = [search([{ ...source("p1", passage), title: "On patches" }, hostile])]
  await using site = await Site.open({ model, tools, agent: { stages } })
  const ada = await site.ada()
  const id = await ada.begin({ agent: "test" })
  await ada.say(id, "what is known?")
  const { page, faults } = await site.visit({}, `/c/${id}`)

  const reply = page.getByRole("article", { name: "Pawl" }).last()
  const first = reply.getByRole("button", { name: "Source 1: On patches", exact: true })
  await first.waitFor()
  expect(await first.count()).toBe(1)
  await reply.getByRole("button", { name: /Source 2: .*do not stand in this passage/ }).waitFor()
  await reply.getByText("p9 (unknown source) ⚠").waitFor()
  expect(await reply.locator("code").textContent()).toBe("[p1]")

  await first.press("Enter")
  await reply.locator('[data-source="p1"]:focus details[open]').waitFor()

  await page.getByText(/^\d steps/).click()
  await page.getByText(/Guardrail · fits · 95 of 100/).waitFor()
  await page.getByText(/Grading · 2 of 2 passages kept · enough evidence/).waitFor()
  await page.getByText(/Generation · 3 citations · 2 flagged/).waitFor()
  expect(faults).toEqual([])
})
