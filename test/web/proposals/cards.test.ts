import { expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { seriousFaultsInBothColours, seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { go } from "../browser/talk.ts"

const visit = oneVisit()

test("a delete names everything it removes, repeats nothing, and looks like a delete, in light and dark mode", async () => {
  const wanted = calls(["delete_project", { project_id: "Shelves" }], ["create_task", { title: "Order paint" }])
  const { ada, page, faults } = await visit.begin(scripted(wanted, always(says("Done."))))
  const { body: project } = await ada.post("/api/workspace/projects", { name: "Shelves" })
  const task = { title: "Take photos of the new shelves", projectId: project.id }
  const { body: made } = await ada.post("/api/workspace/tasks", task)
  await ada.post("/api/workspace/taskComments", { taskId: made.id, author: "Ada", content: "Not before noon" })
  const id = await ada.begin()
  await ada.say(id, "go")
  await go(page, `/c/${id}`)
  const card = page.getByRole("article", { name: 'Delete project "Shelves" with 1 task, 1 comment' })
  await card.getByRole("listitem").getByText("Take photos of the new shelves", { exact: true }).waitFor()
  await card.getByRole("listitem").getByText("Not before noon", { exact: true }).waitFor()
  const text = await card.innerText()
  expect(text).not.toMatch(/[[\]{}]/)
  expect(text.split("Shelves")).toHaveLength(3) // the heading, and the field
  const classOf = (name: string) =>
    page.getByRole("article", { name }).getByRole("button", { name: "Approve", exact: true }).getAttribute("class")
  expect(await classOf("Delete project")).toContain("bg-danger text-danger-ink")
  expect(await classOf("Create task")).toContain("bg-accent")
  expect(await seriousFaultsInBothColours(page)).toEqual([])
  // The raw request shows the arguments to the last character.
  await card.getByText("Raw request").click()
  await card.getByText('"Shelves"', { exact: true }).waitFor()
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await expect.poll(async () => (await ada.get("/api/workspace/tasks")).body.items).toEqual([])
  expect(faults).toEqual([])
})

test("the edit form has a menu for a choice and a date field for a date, with readable labels", async () => {
  const given = { title: "Order paint", due_date: "2027-01-31", assignees: ["Ada"] }
  const { ada, page, faults } = await visit.begin(scripted(calls("create_task", given), always(says("Done."))))
  const id = await ada.begin()
  await ada.say(id, "go")
  await go(page, `/c/${id}`)
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  expect(await page.getByLabel("Due date").getAttribute("type")).toBe("date")
  expect(await page.getByLabel("Due date").inputValue()).toBe("2027-01-31")
  await page.getByLabel("Due date").fill("2027-02-28")
  await page.getByLabel("Assignees").fill("Ada\nBo")
  await page.getByText("Optional fields").click()
  await page.getByLabel("Priority").selectOption("high")
  await page.getByLabel("Description").fill("Two tins")
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await page.getByRole("button", { name: "Save and review" }).click()
  await page.getByText("28 February 2027").waitFor()
  await page.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("Done.", { exact: true }).waitFor()
  const [task] = (await ada.get("/api/workspace/tasks")).body.items
  expect(task).toMatchObject({ priority: "high", description: "Two tins", assignee: '["Ada","Bo"]' })
  expect(task).toMatchObject({ title: "Order paint", status: "todo" })
  expect(faults).toEqual([])
})
