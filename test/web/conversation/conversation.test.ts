import type { Locator, Page } from "playwright-core"
import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../../core/engine/definition/tool.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import type { Visitor } from "../../support/server/face.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { go, message, reopen, say } from "../browser/talk.ts"

/** Never returns, so its outcome is in doubt. */
const hanging = defineTool({
  name: "send_mail",
  description: "For tests.",
  input: z.looseObject({}),
  effect: "write",
  inverse: false,
  afterCrash: "in-doubt",
  timeoutSeconds: 1,
  run: () => new Promise<never>(() => {}),
})

const visit = oneVisit({ tools: [hanging] })

const conversation = (page: Page) => page.getByRole("log", { name: "Conversation" })

/** Returns the audit entries of the open conversation. */
async function doneIn(page: Page, ada: Visitor): Promise<{ readonly after: { readonly title: string } }[]> {
  const { items } = (await ada.get("/api/agent/audit")).body
  return items.filter((entry: { conversationId: string }) => page.url().endsWith(`/c/${entry.conversationId}`))
}

/** Presses one key until an element has the focus. */
async function pressUntil(page: Page, key: string, locator: Locator): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    if (await locator.and(page.locator(":focus")).count()) return
    await page.keyboard.press(key)
  }
  throw new Error(`30 times ${key} did not lead there`)
}

const milk = calls("create_task", { title: "buy milk" })

test("a reply is shown as it is written, and a page that reloads during it continues it", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "Tell me a story")
  model.write("Once upon ")
  await page.getByText("Once upon").waitFor()
  model.write("a **time**")
  await page.locator("strong", { hasText: "time" }).waitFor()

  await page.reload()
  await page.locator("strong", { hasText: "time" }).waitFor()
  model.write(" there was")
  await page.getByText("there was").waitFor()
  model.write(" a pawl.").end()
  await page.getByRole("button", { name: "Copy this reply" }).waitFor({ state: "attached" })
  await expect.poll(() => conversation(page).innerText()).toContain("Once upon a time there was a pawl.")
  await page.getByRole("button", { name: "Send", exact: true }).waitFor()
  expect(faults).toEqual([])
})

test("Stop works for a page that was reloaded during the run, and the text written so far stays", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "Count")
  model.write("one two")
  await page.getByText("one two").waitFor()
  await reopen(page)
  await page.getByRole("button", { name: "Stop" }).click()
  await page.getByText("Stopped before it finished.").waitFor()
  await page.getByText("You stopped the reply here.").waitFor()
  await expect.poll(() => conversation(page).innerText()).toContain("one two")

  // And it can be continued.
  await page.getByRole("button", { name: "Continue" }).click()
  model.write("three").end()
  await page.getByText("three").waitFor()
  expect(faults).toEqual([])
})

test("Escape stops the run, and no second run starts", async () => {
  const model = new PacedModel()
  const { page } = await visit.begin(model)
  await say(page, "Count")
  model.write("one")
  await page.getByText("one", { exact: true }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByText("Stopped before it finished.").waitFor()
  expect(model.requests).toHaveLength(1)
})

test("a change is shown before it is applied: rejecting it with a reason applies nothing, and the model receives the reason", async () => {
  const model = scripted(milk, says("Very well."))
  const { ada, page, faults } = await visit.begin(model)
  await say(page, "buy milk")
  const card = page.getByRole("article", { name: /Create task/ })
  await card.getByRole("button", { name: "Reject" }).click()
  await card.getByLabel("Reason").fill("we have some")
  await card.getByRole("button", { name: "Reject" }).click()
  await page.getByText("Very well.").waitFor()
  await page.getByText("Rejected", { exact: true }).waitFor()
  expect(JSON.stringify(model.received[1]?.history)).toContain("we have some")
  expect(await doneIn(page, ada)).toEqual([])
  expect(faults).toEqual([])
})

test("an edited change is a new proposal, and the shown version is applied", async () => {
  const { ada, page, faults } = await visit.begin(scripted(milk, says("Done.")))
  await say(page, "buy milk")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  await page.getByRole("button", { name: "Edit as JSON" }).click()
  const json = page.getByRole("textbox", { name: "Arguments as JSON" })
  await json.fill("{")
  await page.getByRole("button", { name: "Save and review" }).click()
  await page.getByText("This is not valid JSON").waitFor()
  await json.fill('{"title": "buy oat milk"}')
  await page.getByRole("button", { name: "Edit as form" }).click()
  await page.getByLabel("Title").fill("buy goat milk")
  await page.getByRole("button", { name: "Save and review" }).click()
  const card = page.getByRole("article", { name: /buy goat milk/ })
  await page.getByText("Not applied", { exact: true }).waitFor()
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("Done.", { exact: true }).waitFor()
  expect((await doneIn(page, ada)).map(({ after }) => after.title)).toEqual(["buy goat milk"])
  expect(faults).toEqual([])
})

test("two tabs decide at once: one wins, the other shows that it lost, and both show the same result", async () => {
  const { site, page, context, faults } = await visit.begin(scripted(milk, says("Over.")))
  await say(page, "buy milk")
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  const other = await site.look(context)
  await other.page.goto(page.url())
  await other.page.getByRole("button", { name: "Reject" }).click()
  // Hold both decisions until each was sent; otherwise the first would remove the other tab's button.
  const sent = Promise.withResolvers<void>()
  let decisions = 0
  await context.route("**/proposals/*/*", async (route) => {
    if (++decisions === 2) sent.resolve()
    await sent.promise
    await route.continue()
  })
  // The message disappears again, so wait for it from now on.
  const told = Promise.any([page, other.page].map((tab) => tab.getByText(/already (approved|rejected)/).waitFor()))
  await page.getByRole("button", { name: "Approve", exact: true }).click()
  await other.page.getByRole("button", { name: "Reject" }).click()
  await told
  for (const tab of [page, other.page]) await tab.getByText("Over.").waitFor()
  const outcomes = await Promise.all(
    [page, other.page].map((tab) =>
      tab
        .getByText(/^(Done|Rejected)$/)
        .first()
        .innerText(),
    ),
  )
  expect(new Set(outcomes).size).toBe(1)
  const conflict = "console: Failed to load resource: the server responded with a status of 409 (Conflict)"
  expect([...faults, ...other.faults].filter((fault) => !fault.startsWith(conflict))).toEqual([])
})

test("while the server is away the page shows it; then the reply continues where it was, and Stop works", async () => {
  const model = new PacedModel()
  const { site, page } = await visit.begin(model)
  await say(page, "Tell me a story")
  model.write("Once upon ")
  await page.getByText("Once upon").waitFor()
  await site.leave()
  await page.getByText("Not connected. Reconnecting; nothing is lost.").waitFor()
  model.write("a time")
  await site.comeBack()
  await page.getByText("Once upon a time").waitFor({ timeout: 90_000 })
  await page.getByText("Not connected. Reconnecting; nothing is lost.").waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Stop" }).click()
  await page.getByText("Stopped before it finished.").waitFor()
})

test("revoking a session in another client shows the sign-in page", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page } = await site.visit()
  const ada = await site.ada()
  const { items } = (await ada.get("/api/auth/sessions")).body
  await ada.delete(`/api/auth/sessions/${items[0].id}`)
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
})

test("an interrupted write asks the person whether it was done, to repeat it, or to skip it", async () => {
  const { ada, page, faults } = await visit.begin(scripted(calls("send_mail", { to: "ada" }), says("Noted.")))
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "send it")
  await page.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("it is not known whether it happened").waitFor()
  await reopen(page)
  await page.getByRole("button", { name: "Mark as done" }).click()
  await page.getByText("Noted.").waitFor()
  await page.getByText("Done", { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test("long text has to be visible before it can be approved", async () => {
  const description = `${"Innocent words. ".repeat(60)} And then: delete everything.`
  const given = { title: "Many words ".repeat(50), description }
  const { page } = await visit.begin(scripted(calls("create_task", given), says("ok")))
  await say(page, "go")
  const card = page.getByRole("article", { name: /Create task/ })
  const approve = card.getByRole("button", { name: "Approve", exact: true })
  await approve.waitFor()
  expect(await approve.isDisabled()).toBe(true)
  const cut = card.getByRole("button", { name: /Show all/ })
  await cut.first().click()
  await expect.poll(() => cut.count()).toBe(1) // the page draws a change with its next frame
  expect(await approve.isDisabled()).toBe(true) // the other one is still cut
  await cut.click()
  await expect.poll(() => approve.isEnabled()).toBe(true)
  await expect.poll(() => card.innerText()).toContain("delete everything")
})

test("all changes can be approved at once only after the long ones were visible", async () => {
  const long = { title: "long", description: "words and more ".repeat(60) }
  const model = scripted(calls(["create_task", { title: "short" }], ["create_task", long]), says("Both."))
  const { page } = await visit.begin(model)
  await say(page, "two")
  const all = page.getByRole("button", { name: "Approve all" })
  await all.waitFor()
  expect(await all.isDisabled()).toBe(true)
  await page.getByRole("button", { name: "Show the full text" }).first().click()
  await expect.poll(() => all.isEnabled()).toBe(true)
  await all.click()
  await page.getByText("Both.").waitFor()
})

test("several changes are approved at once, and a tool with a grant does not ask until the grant is revoked", async () => {
  const model = scripted(
    calls(["create_task", { title: "a" }], ["create_task", { title: "b" }]),
    says("Both."),
    calls("create_task", { title: "c" }),
    says("Third."),
    calls("create_task", { title: "d" }),
    says("Fourth."),
  )
  const { page, faults } = await visit.begin(model)
  await say(page, "two")
  await page.getByText("2 changes need your approval.").waitFor()
  await page.getByRole("button", { name: "Approve all" }).click()
  await page.getByText("Both.").waitFor()
  await say(page, "three")
  await page.getByRole("button", { name: "More ways to approve" }).click()
  await page.getByRole("menuitem", { name: /don’t ask again/ }).click()
  await page.getByText("Third.").waitFor()
  await say(page, "four")
  await page.getByText("Fourth.").waitFor()
  await page.getByText("Done, allowed by you earlier").waitFor()
  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "Allowed without asking" }).click()
  await page.getByText("9 of 10 uses left").waitFor()
  await page.getByRole("button", { name: "Revoke" }).click()
  await page.getByText("Nothing yet. To allow something").waitFor()
  expect(faults).toEqual([])
})

test("messages sent during a run are queued: they can be edited, removed, or steer the run", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "first")
  model.write("working")
  await page.getByText("working", { exact: true }).waitFor()
  await say(page, "second")
  const waiting = page.getByRole("list", { name: "Queued messages" })
  await waiting.getByText("second").waitFor()
  await say(page, "third")
  await waiting.getByText("third").waitFor()
  await waiting.getByRole("button", { name: "Remove from the queue" }).last().click()
  await waiting.getByText("third").waitFor({ state: "detached" })
  await waiting.getByRole("button", { name: "Edit this message" }).click()
  await page.getByRole("textbox", { name: "Queued message" }).fill("second, changed")
  await page.keyboard.press("Enter")
  await page.getByRole("textbox", { name: "Queued message" }).waitFor({ state: "detached" }) // it is saved
  await waiting.getByText("second, changed").waitFor()
  model.end()
  await page.getByRole("article", { name: "You" }).getByText("second, changed").waitFor()
  await waiting.waitFor({ state: "detached" })
  model.write("all done").end()
  await page.getByText("all done").waitFor()
  expect(faults).toEqual([])
})

test("an edited message starts a new branch, and a reply can be branched from", async () => {
  const { page, faults } = await visit.begin(scripted(says("First."), says("Second."), says("Another.")))
  await say(page, "one")
  await page.getByText("First.").waitFor()
  const origin = page.url()
  await say(page, "two")
  await page.getByText("Second.").waitFor()
  await page.getByRole("article", { name: "You" }).last().hover()
  await page.getByRole("button", { name: "Edit and resend" }).last().click()
  await page.getByRole("textbox", { name: "Your message" }).fill("three")
  await page.getByRole("button", { name: "Resend", exact: true }).click()
  await page.getByText("Another.").waitFor()
  expect(page.url()).not.toBe(origin)
  expect(await conversation(page).innerText()).not.toContain("two")
  await go(page, new URL(origin).pathname)
  await page.getByText("Second.").waitFor()
  await page.getByRole("button", { name: "Branch from here" }).first().click()
  await page.waitForURL((url) => url.href !== origin)
  // The previous conversation may still be visible for a moment.
  await expect.poll(() => conversation(page).innerText()).not.toContain("two")
  await page.getByText("First.").waitFor()
  expect(faults).toEqual([])
})

test("conversations are found, renamed and deleted, in every tab at once", async () => {
  const { site, ada, page, context, faults } = await visit.begin(scripted(always(says("ok"))))
  await ada.begin({ title: "Holidays" })
  await ada.begin({ title: "Taxes" })
  const other = await site.look(context)
  await other.page.goto(site.url)
  for (const tab of [page, other.page]) await tab.getByRole("link", { name: "Taxes", exact: true }).waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("searchbox").and(page.locator(":focus")).waitFor()
  await page.keyboard.type("hol")
  await page.getByRole("link", { name: "Taxes", exact: true }).waitFor({ state: "detached" })
  await page.getByRole("button", { name: "More for Holidays" }).click()
  await page.getByRole("menuitem", { name: "Rename" }).click()
  await page.getByRole("textbox", { name: "Title" }).fill("Holidays in Rome")
  await page.keyboard.press("Enter")
  await other.page.getByRole("link", { name: "Holidays in Rome", exact: true }).waitFor()
  await page.getByRole("button", { name: "More for Holidays in Rome" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
  await other.page.getByRole("link", { name: "Holidays in Rome", exact: true }).waitFor({ state: "detached" })
  expect(faults).toEqual([])
})

test("search finds a conversation that is not listed yet, without loading the whole list", async () => {
  const { site, ada, context, faults } = await visit.begin(scripted(always(says("ok"))))
  await ada.begin({ title: "The oldest of all" })
  for (let i = 0; i < 50; i++) await ada.begin({ title: `Another ${i}` })
  const { page } = await site.look(context)
  const asked: string[] = []
  page.on("request", (request) => void (/conversations\?/.test(request.url()) && asked.push(request.url())))
  await page.goto(site.url)
  await page.getByRole("link", { name: "Another 49", exact: true }).waitFor()
  const oldest = page.getByRole("link", { name: "The oldest of all", exact: true })
  expect(await oldest.count()).toBe(0)
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("OLDEST")
  await oldest.waitFor()
  expect(asked.map((url) => new URL(url).searchParams.get("search"))).toEqual(["oldest"])
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("nowhere")
  await page.getByText("No title contains these words.").waitFor()
  expect(faults).toEqual([])
})

test("keyboard only: skip link, write, approve, start a new conversation", async () => {
  const { page, faults } = await visit.begin(scripted(milk, says("Thank you.")))
  const skip = page.getByRole("link", { name: "Skip to content" })
  await pressUntil(page, "Shift+Tab", skip)
  await skip.waitFor()
  await page.keyboard.press("Enter")
  await pressUntil(page, "Tab", message(page))
  await page.keyboard.type("one")
  await page.keyboard.press("Shift+Enter")
  await page.keyboard.type("two")
  expect(await message(page).inputValue()).toBe("one\ntwo")
  await page.keyboard.press("Enter")
  const approve = page.getByRole("button", { name: "Approve", exact: true })
  await approve.waitFor()
  await conversation(page).focus()
  await pressUntil(page, "Tab", approve)
  await page.keyboard.press("Enter")
  await page.getByText("Thank you.").waitFor()
  await conversation(page).focus()
  await page.keyboard.press("n")
  await page.getByRole("heading", { name: "What would you like to do?" }).waitFor()
  await expect.poll(() => message(page).and(page.locator(":focus")).count()).toBe(1)
  expect(faults).toEqual([])
})

test("on a phone the list of conversations is a drawer, and everything fits", async () => {
  const { site } = await visit.begin(scripted(milk, says("Done.")))
  const { page, faults } = await site.visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  await page.getByRole("navigation").waitFor({ state: "hidden" })
  await say(page, "buy milk")
  await page.getByRole("button", { name: "Approve", exact: true }).tap()
  await page.getByText("Done.", { exact: true }).waitFor()
  const wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  expect(wide).toBe(false)
  await page.getByRole("button", { name: "Open the list of conversations" }).tap()
  await page.getByRole("navigation").getByRole("link", { name: "buy milk", exact: true }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("navigation").waitFor({ state: "hidden" })
  expect(faults).toEqual([])
})
