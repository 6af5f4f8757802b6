import type { Locator, Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { message, say, tells } from "../browser/talk.ts"

const visit = oneVisit()

/** Blocks write requests until the returned function is called. */
async function cutOff(page: Page): Promise<() => Promise<void>> {
  await page.route("**/api/**", (route) =>
    route.request().method() === "GET" ? route.continue() : route.abort("connectionfailed"),
  )
  return () => page.unrouteAll()
}

const TROUBLE = "The server cannot be reached."

/** Submits a form and waits for the error at its field, without a toast. */
async function isRefused(field: Locator, problem: string | RegExp, act: () => Promise<unknown>): Promise<void> {
  await act()
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true")
  const text = field.page().locator(`[id="${await field.getAttribute("aria-describedby")}"]`)
  expect(await text.innerText()).toMatch(problem)
  expect(await field.page().locator("[data-toast]").count()).toBe(0)
}

test("edited changes, rejection reasons and edited messages stay in their fields until they are stored", async () => {
  const model = scripted(calls("create_task", { title: "x" }), says("Then not."), says("Hello, Grace."))
  const { page } = await visit.begin(model)
  await say(page, "go")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  const title = page.locator("form").getByRole("textbox", { name: "Title" })
  await title.fill("A title with much thought in it")
  const propose = page.getByRole("button", { name: "Save and review" })
  await title.fill("")
  await isRefused(title, "This is empty or too short.", () => propose.click())
  await title.fill("A title with much thought in it")
  let reconnect = await cutOff(page)
  await propose.click()
  await page.locator("form").getByRole("alert").getByText(TROUBLE).waitFor()
  expect(await page.locator("[data-toast]").count()).toBe(0)
  expect(await title.inputValue()).toBe("A title with much thought in it")
  await reconnect()
  await propose.click()
  await page.getByText('Create task "A title with much thought in it"').waitFor()

  await page.getByRole("button", { name: "Reject", exact: true }).click()
  const reason = page.getByRole("textbox", { name: "Reason" })
  await reason.fill("Because of the budget")
  reconnect = await cutOff(page)
  await isRefused(reason, TROUBLE, () => reason.press("Enter"))
  expect(await reason.inputValue()).toBe("Because of the budget")
  await reconnect()
  await reason.press("Enter")
  await page.getByText("Then not.").waitFor()

  await page.getByRole("article", { name: "You" }).hover()
  await page.getByRole("button", { name: "Edit and resend" }).click()
  const words = page.getByRole("textbox", { name: "Your message" })
  await words.fill("I am Grace")
  reconnect = await cutOff(page)
  const ask = page.getByRole("button", { name: "Resend", exact: true })
  await isRefused(words, TROUBLE, () => ask.click())
  expect(await words.inputValue()).toBe("I am Grace")
  await reconnect()
  await ask.click()
  await page.getByText("Hello, Grace.").waitFor()
})

test("a queued message keeps its line breaks when edited, and the edit if it cannot be stored", async () => {
  const model = new PacedModel()
  const { page, ada } = await visit.begin(model)
  await say(page, "one")
  model.write("working")
  await page.getByText("working", { exact: true }).waitFor()
  await say(page, "first line\nsecond line")
  const queue = page.getByRole("list", { name: "Queued messages" })
  await queue.getByRole("button", { name: "Edit this message" }).click()
  const field = queue.getByRole("textbox", { name: "Queued message" })
  await field.press("ControlOrMeta+End")
  await field.pressSequentially(", longer")
  const reconnect = await cutOff(page)
  await isRefused(field, TROUBLE, () => field.press("Enter"))
  expect(await field.inputValue()).toBe("first line\nsecond line, longer")
  await reconnect()
  await field.press("Enter")
  await field.waitFor({ state: "hidden" })
  const id = new URL(page.url()).pathname.split("/").at(-1)
  const { items } = (await ada.get(`/api/conversations/${id}/queue`)).body
  expect(items.map(({ text }: { text: string }) => text)).toEqual(["first line\nsecond line, longer"])
  model.end()
})

test("an unsaved edit of a queued message moves to the composer when a run takes the message", async () => {
  const model = new PacedModel()
  const { page, ada, faults } = await visit.begin(model)
  await say(page, "one")
  model.write("working")
  await page.getByText("working", { exact: true }).waitFor()
  await say(page, "two")
  const queue = page.getByRole("list", { name: "Queued messages" })
  await queue.getByRole("button", { name: "Edit this message" }).click()
  await queue.getByRole("textbox", { name: "Queued message" }).fill("two, but in French")
  await tells(page, "The message was sent before your edit was saved.", async () => model.end())
  await page.getByRole("article", { name: "You" }).getByText("two").waitFor()
  expect(await message(page).inputValue()).toBe("two, but in French")

  await message(page).press("Enter")
  await queue.getByRole("button", { name: "Edit this message" }).click()
  const field = queue.getByRole("textbox", { name: "Queued message" })
  await field.fill("three, in French")
  await field.press("Enter")
  await field.waitFor({ state: "hidden" })
  model.write("Deux.").end()
  await page.getByRole("article", { name: "You" }).getByText("three, in French").waitFor()
  expect(await message(page).inputValue()).toBe("")
  const id = new URL(page.url()).pathname.split("/").at(-1)
  expect((await ada.get(`/api/conversations/${id}/queue`)).body.items).toEqual([])
  model.write("Trois.").end()
  await page.getByText("Trois.").waitFor()
  expect(faults).toEqual([])
})

test("editing and resending creates one branch, even if renaming it fails at first", async () => {
  const model = scripted(says("Hello."), says("Hello, Grace."))
  const { page, ada } = await visit.begin(model)
  await say(page, "I am Ada")
  await page.getByText("Hello.").waitFor()
  await page.getByRole("article", { name: "You" }).hover()
  await page.getByRole("button", { name: "Edit and resend" }).click()
  const words = page.getByRole("textbox", { name: "Your message" })
  await words.fill("I am Grace")
  await page.route("**/api/**", (route) =>
    route.request().method() === "PATCH" ? route.abort("connectionfailed") : route.continue(),
  )
  const ask = page.getByRole("button", { name: "Resend", exact: true })
  await isRefused(words, TROUBLE, () => ask.click())
  await page.unrouteAll()
  await ask.click()
  await page.getByText("Hello, Grace.").waitFor()
  const { items } = (await ada.get("/api/conversations")).body
  expect(items.map(({ title }: { title: string }) => title)).toEqual(["I am Grace", "I am Ada"])
})

test("a new conversation title stays in its field until it is stored", async () => {
  const { page, ada } = await visit.begin(scripted(says("Hello.")))
  const id = await ada.begin({ title: "Taxes" })
  await page.getByRole("button", { name: "More for Taxes" }).click()
  await page.getByRole("menuitem", { name: "Rename" }).click()
  const title = page.getByRole("textbox", { name: "Title" })
  await title.fill("Taxes of Acme")
  let reconnect = await cutOff(page)
  await isRefused(title, TROUBLE, () => title.press("Enter"))
  expect(await title.inputValue()).toBe("Taxes of Acme")
  await reconnect()
  await title.press("Enter")
  await page.getByRole("link", { name: "Taxes of Acme", exact: true }).click()

  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "Rename" }).click()
  await title.fill("Taxes of Initech")
  reconnect = await cutOff(page)
  const save = page.getByRole("dialog").getByRole("button", { name: "Save" })
  await isRefused(title, TROUBLE, () => save.click())
  expect(await title.inputValue()).toBe("Taxes of Initech")
  await reconnect()
  await save.click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  expect((await ada.get(`/api/conversations/${id}`)).body.title).toBe("Taxes of Initech")
})
