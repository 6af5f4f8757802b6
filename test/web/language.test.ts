import { expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { Site } from "./browser/site.ts"
import { go } from "./browser/talk.ts"

test("the language chosen in the settings applies to text, dates and numbers, and survives a reload", async () => {
  const milk = { title: "Buy milk", description: "More milk. ".repeat(120) }
  const model = scripted(calls("create_task", milk), always(says("Done.")))
  await using site = await Site.open({ model })
  const ada = await site.ada()
  await ada.say(await ada.begin({ title: "Milk" }), "milk")
  const { page, faults } = await site.visit({}, "/settings/appearance")
  expect(await page.locator("html").getAttribute("lang")).toBe("en")
  await page.getByLabel("Language").selectOption("Deutsch")
  await page.getByRole("heading", { name: "Darstellung" }).waitFor()
  expect(await page.locator("html").getAttribute("lang")).toBe("de")

  await go(page, "/inbox")
  const card = page.getByRole("article", { name: /Buy milk/ })
  await card.getByRole("button", { name: "Genehmigen", exact: true }).waitFor()
  await card.getByRole("button", { name: "Alle 1.320 Zeichen anzeigen" }).waitFor()
  await go(page, "/settings/sessions")
  // The end of this session, on another day: `19. Dez., 14:05`.
  await page.getByText(/\d{1,2}\. \p{L}{3,4}\.?, \d{2}:\d{2}/u).waitFor()

  await go(page, "/inbox")
  await page.reload()
  await card.getByRole("button", { name: "Genehmigen", exact: true }).waitFor()
  expect(await page.locator("html").getAttribute("lang")).toBe("de")

  await go(page, "/settings/appearance")
  await page.getByLabel("Sprache").selectOption("English")
  await page.getByRole("heading", { name: "Appearance" }).waitFor()
  await go(page, "/inbox")
  await card.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(faults).toEqual([])
})
