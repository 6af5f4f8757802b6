import { expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { go, reopen, tells } from "../browser/talk.ts"

const visit = oneVisit()

test("the inbox shows pending changes of all conversations, and they are decided there", async () => {
  const model = scripted(
    calls("create_task", { title: "Buy milk" }),
    calls("create_task", { title: "Buy bread" }),
    always(says("Done.")),
  )
  const { ada, page, faults } = await visit.begin(model)
  await go(page, "/inbox")
  await page.getByText("Nothing to approve").waitFor()
  const nav = page.getByRole("navigation").getByRole("link", { name: /^Inbox/ })
  for (const title of ["Milk", "Bread"]) await ada.say(await ada.begin({ title }), `buy ${title}`)
  // Without a reload: the feed sends it.
  const milk = page.getByRole("article", { name: /Create task "Buy milk"/ })
  const bread = page.getByRole("article", { name: /Create task "Buy bread"/ })
  await milk.waitFor()
  await bread.waitFor()
  await expect.poll(() => nav.innerText()).toContain("2")
  await page.getByRole("link", { name: "Bread", exact: true }).waitFor()

  await milk.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("Done", { exact: true }).waitFor() // its outcome stays in view
  await bread.getByRole("button", { name: "Reject" }).click()
  await bread.getByRole("button", { name: "Reject" }).click()
  await page.getByText("Rejected", { exact: true }).waitFor()
  await expect.poll(() => nav.innerText()).toBe("Inbox")
  const { body } = await ada.get("/api/workspace/tasks")
  expect(body.items.map(({ title }: { title: string }) => title)).toEqual(["Buy milk"])
  // Settled proposals are not pending: the reopened inbox is empty.
  await reopen(page)
  await page.getByText("Nothing to approve").waitFor()
  expect(faults).toEqual([])
})

test("the history lists each change with before and after, and undoing one is shown as a change first", async () => {
  const model = scripted(calls("update_task", { task_id: "Buy milk", title: "Buy oat milk" }), always(says("Done.")))
  await using site = await Site.open({ model })
  const ada = await site.ada()
  const { body: task } = await ada.post("/api/workspace/tasks", { title: "Buy milk" })
  const { page, faults } = await site.visit({}, "/audit")
  await page.getByText("No history yet").waitFor()
  await ada.say(await ada.begin({ mode: "auto", title: "Shopping" }), "oat milk please")
  const entry = page.getByRole("main").getByRole("listitem").first()
  await entry.getByText("Done automatically").waitFor()
  await entry.locator("summary").first().click()
  await expect.poll(() => entry.locator("ins").allInnerTexts()).toContain("oat ")
  await entry.getByRole("link", { name: "Shopping" }).waitFor()

  await entry.getByRole("button", { name: "Undo" }).click()
  const title = async () => (await ada.get(`/api/workspace/tasks/${task.id}`)).body.title
  const card = page.getByRole("article", { name: /task/ })
  await card.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/c\//)
  expect(await title()).toBe("Buy oat milk")
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await expect.poll(title).toBe("Buy milk")

  await page.getByRole("navigation").getByRole("link", { name: "History" }).click()
  await page.getByText("Undone later").waitFor()
  await expect.poll(() => page.getByText("Undoes an earlier change").count()).toBe(1)
  expect(faults).toEqual([])
})

test("an undo that is already pending links to the pending one", async () => {
  const model = scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
  const { ada, page } = await visit.begin(model)
  const id = await ada.begin({ mode: "auto" })
  await ada.say(id, "buy milk")
  const { body } = await ada.get("/api/agent/audit")
  await go(page, "/audit")
  const undo = page.getByRole("main").getByRole("listitem").first().getByRole("button", { name: "Undo" })
  await undo.waitFor()
  expect((await ada.post(`/api/agent/audit/${body.items[0].id}/undo`)).status).toBe(201)
  await tells(page, "Undoing this already needs your approval.", () => undo.click())
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/c/${id}`)
  expect((await ada.get("/api/agent/proposals?status=pending")).body.items).toHaveLength(1)
})
