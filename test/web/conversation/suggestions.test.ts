import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { named } from "../../support/loop/several-models.ts"
import { Site } from "../browser/site.ts"
import { say } from "../browser/talk.ts"

const REPLY =
  "I did not understand that. You could ask:\n\n- `add a task buy milk`\n- `list my tasks`\n\nOr:\n\n- `one`, or two"

test("suggestions of the offline model are buttons that send them, once", async () => {
  const model = named("offline", says(REPLY), always(says("Done.")))
  await using site = await Site.open({ model })
  const { page, faults } = await site.visit()
  await say(page, "Do something")
  const list = page.getByRole("list", { name: "Suggested requests" })
  await list.waitFor()
  expect(await list.getByRole("button").allInnerTexts()).toEqual(["add a task buy milk", "list my tasks"])
  await list.getByRole("button", { name: "list my tasks" }).dblclick()
  await page.getByText("Done.", { exact: true }).waitFor()
  const own = page.getByRole("article", { name: "You" })
  expect(await own.allInnerTexts()).toHaveLength(2)
  expect(await own.last().innerText()).toContain("list my tasks")
  expect(faults).toEqual([])
})

test("clicking a suggestion scrolls to the end, as sending a typed message does", async () => {
  const long = Array.from({ length: 60 }, (_, index) => `Line ${index + 1}.`).join("\n\n")
  const model = named("offline", says(`- \`list my tasks\`\n\n${long}`), always(says(`${long}\n\nThe end.`)))
  await using site = await Site.open({ model })
  const { page, faults } = await site.visit()
  await say(page, "Do something")
  await page.getByText("Line 60.", { exact: true }).waitFor()
  const log = page.getByRole("log")
  const fromEnd = () =>
    log.evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight) as Promise<number>
  await page.getByRole("button", { name: "list my tasks" }).scrollIntoViewIfNeeded()
  await page.getByRole("button", { name: "Jump to the end" }).waitFor()
  await page.getByRole("button", { name: "list my tasks" }).click()
  await page.getByText("The end.", { exact: true }).waitFor()
  await expect.poll(fromEnd).toBeLessThan(5)
  await page.getByRole("button", { name: "Jump to the end" }).waitFor({ state: "detached" })
  expect(faults).toEqual([])
})

test("other models cannot create such buttons", async () => {
  await using site = await Site.open({ model: scripted(says(REPLY)) })
  const { page } = await site.visit()
  await say(page, "Do something")
  await page.locator(".prose li code", { hasText: "list my tasks" }).waitFor()
  expect(await page.getByRole("list", { name: "Suggested requests" }).count()).toBe(0)
})
