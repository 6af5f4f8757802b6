import type { Locator, Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { go, tells } from "./browser/talk.ts"

const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const card = (within: Page | Locator, title: string) => within.locator("[data-task]", { hasText: title })
const tables = "/api/workspace"

const visit = oneVisit()

test("changes by a run are shown in every tab as they happen, and so are those by the person", async () => {
  const model = scripted(calls("create_task", { title: "Buy milk" }), says("Done."))
  const { site, ada, page, context, faults } = await visit.begin(model)
  await go(page, "/tasks")
  const second = await site.look(context)
  await second.page.goto(`${site.url}/tasks`)
  for (const each of [page, second.page]) await each.getByText("No tasks yet").waitFor()

  const id = await ada.begin({ mode: "auto" })
  await ada.say(id, "buy milk")
  for (const each of [page, second.page]) await card(column(each, "To do"), "Buy milk").waitFor()

  await page.getByRole("button", { name: "More for Buy milk", exact: true }).click()
  await page.getByRole("menuitem", { name: "Move to Done" }).click()
  for (const each of [page, second.page]) await card(column(each, "Done"), "Buy milk").waitFor()
  // Changes by the person create no proposals, and the audit is about agents.
  const done = (await ada.get("/api/agent/audit")).body.items
  expect(done.filter((entry: { conversationId: string }) => entry.conversationId === id)).toHaveLength(1)
  expect((await ada.get("/api/agent/proposals?status=pending")).body.items).toEqual([])

  // Too many events to send row by row: the page reads the table again.
  const tasks = Array.from({ length: 60 }, (_, index) => ({
    ...{ id: `t${index}`, projectId: null, title: `Task ${index}`, description: null, status: "todo", priority: "low" },
    ...{ assignee: null, dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: index },
  }))
  expect((await ada.post(`${tables}/import`, { tasks })).status).toBe(201)
  await card(page, "Task 59").waitFor()
  await expect.poll(() => column(page, "To do").locator("[data-task]").count()).toBe(60)
  expect([...faults, ...second.faults]).toEqual([])
})

test("changes made while the server was away are there when it is back", async () => {
  const { site, ada, page } = await visit.begin(scripted())
  const { body: old } = await ada.post(`${tables}/tasks`, { title: "Old" })
  await go(page, "/tasks")
  await card(page, "Old").waitFor()
  await site.leave()
  await ada.post(`${tables}/tasks`, { title: "New" })
  await ada.delete(`${tables}/tasks/${old.id}`)
  await site.comeBack()
  await card(page, "New").waitFor({ timeout: 90_000 })
  await expect.poll(() => card(page, "Old").count()).toBe(0)
})

test("a task is moved on the board by keyboard alone, and keeps the focus", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await ada.post(`${tables}/tasks`, { title: "First", priority: "high" })
  await ada.post(`${tables}/tasks`, { title: "Second" })
  await go(page, "/tasks")
  await card(page, "First").waitFor()
  for (let presses = 0; presses < 40 && !(await card(page, "First").and(page.locator(":focus")).count()); presses++)
    await page.keyboard.press("Tab")
  await page.keyboard.press("ArrowDown")
  await card(page, "Second").and(page.locator(":focus")).waitFor()
  await page.keyboard.press("Control+ArrowRight")
  await card(column(page, "In progress"), "Second").and(page.locator(":focus")).waitFor()
  await page.keyboard.press("Control+ArrowRight")
  await card(column(page, "Done"), "Second").and(page.locator(":focus")).waitFor()
  await page.getByRole("status").getByText("Second moved to Done").waitFor({ state: "attached" })
  await page.keyboard.press("Control+ArrowRight") // there is no further column
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").getByLabel("Title").waitFor()
  await page.keyboard.press("Escape")
  await card(column(page, "Done"), "Second").and(page.locator(":focus")).waitFor()
  const { body } = await ada.get(`${tables}/tasks?status=done`)
  expect(body.items.map(({ title }: { title: string }) => title)).toEqual(["Second"])
  expect(faults).toEqual([])
})

test("a task is dragged from one column to another, and other dragged text is ignored", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await ada.post(`${tables}/tasks`, { title: "First" })
  await go(page, "/tasks")
  await card(column(page, "To do"), "First").dragTo(column(page, "In progress"))
  await card(column(page, "In progress"), "First").waitFor()
  await page.getByRole("status").getByText("First moved to In progress").waitFor({ state: "attached" })
  // Text from another page is dropped here.
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.setData("text/plain", "somebody's words")
    document.querySelector("[aria-label=Done]").dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer }))
  })()`)
  await card(column(page, "In progress"), "First").dragTo(column(page, "Done"))
  await card(column(page, "Done"), "First").waitFor()
  const { body } = await ada.get(`${tables}/tasks`)
  expect(body.items.map(({ status }: { status: string }) => status)).toEqual(["done"])
  expect(faults).toEqual([])
})

test("an edit of a task that changed in the meantime is not saved: the newer version is shown, with the person's own values", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  const { body: task } = await ada.post(`${tables}/tasks`, { title: "Roof" })
  await go(page, `/tasks/${task.id}`)
  const dialog = page.getByRole("dialog")
  await dialog.getByLabel("Title").fill("Roof, mine")
  await dialog.getByLabel("Status").selectOption("In progress")
  await ada.patch(`${tables}/tasks/${task.id}`, {
    updates: { title: "Roof, theirs", status: "done", description: "New tiles" },
  })
  // Untouched fields update at once.
  await expect.poll(() => dialog.getByLabel("Description").inputValue()).toBe("New tiles")
  expect(await dialog.getByLabel("Title").inputValue()).toBe("Roof, mine")
  await dialog.getByRole("button", { name: "Save" }).click()
  await dialog.getByText("This was changed in the meantime").waitFor()
  await expect.poll(() => dialog.getByLabel("Title").inputValue()).toBe("Roof, theirs")
  await dialog.getByText("Status, your version: In progress").waitFor()
  expect((await ada.get(`${tables}/tasks/${task.id}`)).body.title).toBe("Roof, theirs")
  await dialog.getByRole("button", { name: "Use my version" }).first().click()
  await dialog.getByRole("button", { name: "Save" }).click()
  await dialog.waitFor({ state: "detached" })
  expect((await ada.get(`${tables}/tasks/${task.id}`)).body.title).toBe("Roof, mine")
  // The console reports the expected 409.
  expect(faults.filter((fault) => !fault.includes("409"))).toEqual([])
})

test("moving a task that was moved in the meantime is refused", async () => {
  const { ada, page } = await visit.begin(scripted())
  const { body: task } = await ada.post(`${tables}/tasks`, { title: "Roof" })
  await go(page, "/tasks")
  await card(column(page, "To do"), "Roof").waitFor()
  // Between the page's last read and its request.
  await page.route("**/api/workspace/tasks/*", async (route) => {
    if (route.request().method() === "PATCH")
      await ada.patch(`${tables}/tasks/${task.id}`, { updates: { status: "done" } })
    await route.continue()
  })
  await card(page, "Roof").focus()
  await tells(page, "This task was moved in the meantime.", () => page.keyboard.press("Control+ArrowRight"))
  await card(column(page, "Done"), "Roof").waitFor()
  expect((await ada.get(`${tables}/tasks/${task.id}`)).body.status).toBe("done")
})

test("tasks are found by text, project and status; created, completed, commented on and deleted by the person", async () => {
  const { site, ada } = await visit.begin(scripted())
  const { body: project } = await ada.post(`${tables}/projects`, { name: "House" })
  await ada.post(`${tables}/tasks`, { title: "Mend the roof", projectId: project.id })
  await ada.post(`${tables}/tasks`, { title: "Call Ada", description: "about the ROOF", status: "in_progress" })
  const { page, faults } = await site.visit({ timezoneId: "America/New_York" }, "/tasks")
  await page.getByRole("button", { name: "List", exact: true }).click()
  const titles = async () => (await page.locator("[data-task]").allInnerTexts()).map((text) => text.split("\n")[0])
  await page.getByRole("searchbox", { name: "Search tasks" }).fill("roof")
  await expect.poll(titles).toEqual(["Mend the roof", "Call Ada"])
  await page.getByRole("combobox", { name: "Status" }).selectOption("in_progress")
  await expect.poll(titles).toEqual(["Call Ada"])
  await page.getByRole("combobox", { name: "Status" }).selectOption("")
  await page.getByRole("searchbox", { name: "Search tasks" }).fill("")
  await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "House" })
  await expect.poll(titles).toEqual(["Mend the roof"])

  await page.getByRole("textbox", { name: "New task" }).fill("Paint the door")
  await page.keyboard.press("Enter")
  await page.locator("[data-task]", { hasText: "Paint the door" }).click()
  const dialog = page.getByRole("dialog", { name: "Task", exact: true })
  await dialog.getByLabel("Due").fill("2031-01-14")
  await dialog.getByLabel("Assigned to").fill("Ada, Bob")
  await dialog.getByRole("textbox", { name: "New comment" }).fill("Green, please.")
  await page.keyboard.press("Enter")
  await dialog.getByText("Green, please.").waitFor()
  await dialog.getByRole("button", { name: "Save" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("checkbox", { name: "Done: Paint the door" }).click()
  await page.getByRole("checkbox", { name: "Done: Paint the door", checked: true }).waitFor()
  const find = async () => (await ada.get(`${tables}/tasks?search=door`)).body.items
  await expect
    .poll(find)
    .toMatchObject([{ status: "done", projectId: project.id, dueDate: "2031-01-14", assignee: '["Ada","Bob"]' }])
  await page.getByRole("button", { name: "More for Paint the door" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("button", { name: "Cancel" }).click()
  expect(await find()).toHaveLength(1)
  await page.getByRole("button", { name: "More for Paint the door" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("button", { name: "Delete", exact: true }).click()
  await expect.poll(titles).toEqual(["Mend the roof"])
  expect(await find()).toEqual([])
  expect(faults).toEqual([])
})

test("projects, notes and clients are created, read, edited and deleted; the sample data is added and removed", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await go(page, "/projects")
  await page.getByRole("button", { name: "Load sample data" }).click()
  await page.getByRole("link", { name: /Online shop/ }).waitFor()
  await page.getByRole("textbox", { name: "New project" }).fill("House")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: "House" }).waitFor()
  await page.getByRole("textbox", { name: "New checkpoint" }).fill("The roof is on")
  await page.keyboard.press("Enter")
  await page.getByRole("region", { name: "Checkpoints" }).getByText("The roof is on").waitFor()
  await page.getByRole("textbox", { name: "New note" }).fill("Tiles")
  await page.keyboard.press("Enter")
  const note = page.getByRole("article", { name: "Note" })
  await note.getByRole("button", { name: "Edit" }).click()
  await note.getByLabel("Text (Markdown)").fill("Only **red** ones.")
  await note.getByRole("button", { name: "Save" }).click()
  await note.locator("strong", { hasText: "red" }).waitFor()
  await page.getByRole("searchbox", { name: "Search notes" }).fill("RED")
  await expect.poll(() => page.getByRole("list", { name: "Notes" }).getByRole("listitem").count()).toBe(1)

  await note.getByRole("link", { name: "House" }).click()
  await page.getByRole("button", { name: "More for this project" }).click()
  await page.getByRole("menuitem", { name: "Archive" }).click()
  await page.getByText("· archived").waitFor()
  await page.locator("#main").getByRole("link", { name: "Projects", exact: true }).click()
  await page.getByRole("region", { name: "Archived" }).getByRole("link", { name: /House/ }).click()
  await page.getByRole("button", { name: "More for this project" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("button", { name: "Delete", exact: true }).click()
  await page.getByRole("link", { name: /Online shop/ }).waitFor()
  expect((await ada.get(`${tables}/notes?search=red`)).body.items).toEqual([])

  await page.getByRole("link", { name: "Clients" }).click()
  await page.getByRole("textbox", { name: "New client" }).fill("Mill")
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Edit Mill" }).click()
  await page.getByRole("dialog").getByLabel("Industry").fill("Flour")
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click()
  await page.getByText("Flour").waitFor()
  await page.getByRole("button", { name: "More for the workspace" }).click()
  await page.getByRole("menuitem", { name: "Remove sample data" }).click()
  await expect.poll(async () => (await ada.get(`${tables}/tasks`)).body.items).toEqual([])
  await page.getByRole("button", { name: "Delete Mill" }).click()
  await page.getByRole("button", { name: "Delete", exact: true }).click()
  await page.getByText("No clients yet").waitFor()
  expect(faults).toEqual([])
})

test("a workspace is exported as a file, and imported again", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await ada.post(`${tables}/tasks`, { title: "Buy milk" })
  await go(page, "/tasks")
  await page.getByRole("button", { name: "More for the workspace" }).click()
  const downloading = page.waitForEvent("download")
  await page.getByRole("menuitem", { name: "Export as JSON" }).click()
  const path = await (await downloading).path()
  const file = page.getByLabel("Workspace file")
  const broken = { name: "x", mimeType: "application/json", buffer: Buffer.from("{") }
  await tells(page, "This file is not valid JSON.", () => file.setInputFiles(broken))
  await tells(page, "Imported 1 entry.", () => file.setInputFiles(path))
  await expect.poll(() => card(page, "Buy milk").count()).toBe(2)
  expect(faults).toEqual([])
})
