import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { go, say } from "./browser/talk.ts"

const visit = oneVisit()

/** Returns the address of a link, which a middle click and "copy address" need. */
const addressOf = async (page: Page, name: string | RegExp) =>
  page.getByRole("link", { name }).first().getAttribute("href")

test("pages and conversations are links: a plain click stays in the document, a click with Control opens a tab", async () => {
  const { page, context, faults } = await visit.begin(scripted(always(says("Hello."))))
  await say(page, "Shopping for the week")
  await page.getByText("Hello.").waitFor()
  const { pathname } = new URL(page.url())
  const nav = page.getByRole("navigation", { name: "Pawl" })
  const conversation = nav.getByRole("link", { name: /Shopping/ })
  await conversation.waitFor()
  expect(await conversation.getAttribute("href")).toBe(pathname)
  for (const [name, path] of [
    [/^New conversation/, "/"],
    [/^Inbox/, "/inbox"],
    [/^Tasks/, "/tasks"],
    [/^Library/, "/library"],
  ] as const)
    expect(await addressOf(page, name)).toBe(path)

  await page.evaluate("window.isSameDocument = true")
  await nav.getByRole("link", { name: /^Tasks/ }).click()
  await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor()
  await conversation.click()
  await page.getByText("Hello.").waitFor()
  await page.goBack()
  await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor()
  await page.goForward()
  await page.getByText("Hello.").waitFor()
  expect(await page.evaluate("window.isSameDocument")).toBe(true)

  const [tab] = await Promise.all([context.waitForEvent("page"), conversation.click({ modifiers: ["ControlOrMeta"] })])
  await tab.waitForURL(`**${pathname}`)
  const [other] = await Promise.all([
    context.waitForEvent("page"),
    nav.getByRole("link", { name: /^Inbox/ }).click({ button: "middle" }),
  ])
  await other.waitForURL("**/inbox")
  expect(new URL(page.url()).pathname).toBe(pathname)
  await tab.close()
  await other.close()
  expect(faults).toEqual([])
})

test("menu items that lead to a page are links too, by pointer and keyboard, and the menu closes", async () => {
  const { page, faults } = await visit.begin(scripted(always(says("Hello."))))
  await say(page, "Shopping")
  await page.getByText("Hello.").waitFor()
  const { pathname } = new URL(page.url())
  await page.getByRole("button", { name: "More for this conversation" }).click()
  const runs = page.getByRole("menuitem", { name: "Runs" })
  expect(await runs.getAttribute("href")).toBe(`${pathname}/runs`)
  await runs.click()
  await page.waitForURL(`**${pathname}/runs`)
  const person = page.getByRole("button", { name: /^Signed in as/ })
  await person.focus()
  await page.keyboard.press("Enter")
  await page.getByRole("menuitem", { name: "Settings" }).focus()
  await page.keyboard.press("Enter")
  await page.waitForURL("**/settings")
  await expect.poll(() => page.getByRole("menuitem").count()).toBe(0)
  expect(faults).toEqual([])
})

test("a task is a link, and opens over the list it was clicked in", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  const { body } = await ada.post("/api/workspace/projects", { name: "Home" })
  const { body: task } = await ada.post("/api/workspace/tasks", { title: "Buy milk", projectId: body.id })
  await go(page, `/projects/${body.id}`)
  const link = page.getByRole("link", { name: /^Buy milk/ })
  expect(await link.getAttribute("href")).toBe(`/tasks/${task.id}`)
  await link.click()
  await page.getByRole("dialog").waitFor()
  expect(new URL(page.url()).pathname).toBe(`/projects/${body.id}`)
  await page.keyboard.press("Escape")
  await go(page, "/tasks")
  expect(await link.getAttribute("href")).toBe(`/tasks/${task.id}`)
  expect(faults).toEqual([])
})
