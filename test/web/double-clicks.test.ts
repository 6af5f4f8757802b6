import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { go } from "./browser/talk.ts"

const visit = oneVisit()

/** Delays writes as if from another continent, so that the second click comes before the first is answered. */
const beFarAway = (page: Page): Promise<unknown> =>
  page.route("**/api/**", async (route) => {
    if (route.request().method() === "POST") await new Promise((resolve) => setTimeout(resolve, 300))
    await route.continue()
  })

test("a double click creates one conversation, and one branch of it", async () => {
  const { page, ada, faults } = await visit.begin(scripted(says("Nothing is on your list."), says("Twice.")))
  const count = async () => (await ada.get("/api/conversations")).body.items.length
  await beFarAway(page)
  await page.getByRole("button", { name: "list my tasks" }).dblclick()
  await page.getByText("Nothing is on your list.").waitFor()
  expect(await count()).toBe(1)

  await page.getByText("Nothing is on your list.").hover()
  await page.getByRole("button", { name: "Branch from here" }).dblclick()
  await page.getByText("This is a branch.").first().waitFor()
  await page.waitForTimeout(600)
  expect(await count()).toBe(2)
  expect(faults).toEqual([])
})

test("a double click creates one token, whose value is shown, one collection, one checkpoint and one link to a run", async () => {
  const { page, ada, faults } = await visit.begin(scripted(says("Hello.")))
  const named = async (list: string, name: string) => {
    const { items } = (await ada.get(list)).body
    return items.filter((item: { name?: string; title?: string }) => (item.name ?? item.title) === name).length
  }
  const { id: projectId } = (await ada.post("/api/workspace/projects", { name: "Website" })).body
  const { run } = (await ada.say(await ada.begin(), "hello")).body
  await beFarAway(page)

  await go(page, "/settings/tokens")
  await page.getByRole("textbox", { name: "What is it for?" }).fill("nightly")
  await page.getByRole("button", { name: "Create token" }).dblclick()
  await page.getByText("Copy the new token now").waitFor()

  await go(page, "/settings/connect")
  await page.getByRole("button", { name: "Terminal", exact: true }).click()
  await page.getByRole("button", { name: "Add a token" }).dblclick()
  await page.getByText("The configuration now contains a token").waitFor()

  await go(page, "/library")
  await page.getByRole("textbox", { name: "Collection name" }).fill("Papers clicked twice")
  await page.getByRole("button", { name: "Create" }).dblclick()
  await page.getByRole("heading", { name: "Papers clicked twice" }).waitFor()

  await go(page, `/projects/${projectId}`)
  await page.getByRole("textbox", { name: "New checkpoint" }).fill("Launch")
  await page.keyboard.press("Enter")
  await page.keyboard.press("Enter")
  await page.getByText("Launch").first().waitFor()

  await go(page, `/runs/${run.id}`)
  await page.getByRole("button", { name: "Share" }).click()
  await page.getByRole("button", { name: "Create link" }).dblclick()
  await page.getByText("Copy the link now.").waitFor()

  // A second one would have arrived by now.
  await page.waitForTimeout(600)
  const made = {
    tokens: (await named("/api/tokens", "nightly")) + (await named("/api/tokens", "Terminal")),
    collections: await named("/api/collections", "Papers clicked twice"),
    checkpoints: await named("/api/workspace/checkpoints", "Launch"),
    links: await page.getByRole("dialog").getByRole("listitem").count(),
  }
  expect(made).toEqual({ tokens: 2, collections: 1, checkpoints: 1, links: 1 })
  expect(faults).toEqual([])
})
