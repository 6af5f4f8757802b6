import { expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { go, reopen, say } from "../browser/talk.ts"

// An expired proposal used to be a dead end.

/** Short enough to wait for, and long enough to be seen before. */
const SECONDS = 2
const visit = oneVisit()

/** Opens a page whose proposals expire soon; `haveTime` gives later proposals more time. */
async function begin(model: Model) {
  const opened = await visit.begin(model)
  const { policy } = opened.site.face.pawl.ports
  Object.assign(policy, { proposalMinutes: SECONDS / 60 })
  opened.page.setDefaultTimeout(8000)
  return { ...opened, haveTime: () => Object.assign(policy, { proposalMinutes: 15 }) }
}

const three = calls(
  ["create_task", { title: "Milk" }],
  ["create_task", { title: "Bread" }],
  ["create_task", { title: "Tea" }],
)
const milk = calls("create_task", { title: "Buy milk" })

test("a proposal that expires on the open page offers one click to propose it again, and is not shown as pending", async () => {
  const { haveTime, ada, page, faults } = await begin(scripted(milk, always(says("I see."))))
  await say(page, "milk")
  const again = page.getByRole("button", { name: "Propose again" })
  await again.waitFor()
  const list = page.getByRole("navigation")
  expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0)
  await list.getByText("Waiting, nothing to approve").waitFor({ state: "attached" })
  expect(await list.getByText("Waiting for you").count()).toBe(0)
  expect(await page.getByPlaceholder(/Decide above/).count()).toBe(0)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  // The same after a reload; later proposals have more time.
  await page.reload()
  await again.waitFor()
  haveTime()
  await again.click()
  const card = page.getByRole("article", { name: /Create task "Buy milk"/ })
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("I see.").waitFor()
  const { body } = await ada.get("/api/workspace/tasks")
  expect(body.items).toHaveLength(1)
  expect(faults).toEqual([])
})

test("an expired proposal looks the same after a reload, and keeps its button until it is proposed again", async () => {
  const { haveTime, page, faults } = await begin(scripted(milk, always(says("I see."))))
  await say(page, "milk")
  const again = page.getByRole("button", { name: "Propose again" })
  await again.waitFor()
  await say(page, "never mind")
  await page.getByText("I see.").waitFor()
  await again.waitFor()
  const text = () => page.getByRole("log").innerText()
  const before = await text()
  await page.reload()
  await again.waitFor()
  await expect.poll(text).toBe(before)
  haveTime()
  await again.click()
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(await again.count()).toBe(0)
  await reopen(page)
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(await again.count()).toBe(0)
  expect(faults).toEqual([])
})

test("the inbox keeps expired proposals until they are dismissed or proposed again, on all devices", async () => {
  const { site, haveTime, ada, page, faults } = await begin(scripted(three, always(says("I see."))))
  const id = await ada.begin({ title: "Shopping" })
  const { body } = await ada.say(id, "three")
  const path = `/api/agent/proposals/${body.proposals[0].id}`
  await expect.poll(async () => (await ada.get(path)).body.status).toBe("expired")
  await go(page, "/inbox")
  const phone = await site.visit({ viewport: { width: 390, height: 844 } }, "/inbox")
  const milk = page.getByRole("article", { name: /Create task "Milk"/ })
  await milk.getByText("Expired", { exact: true }).waitFor()
  const again = phone.page.getByRole("button", { name: "Propose again" })
  await expect.poll(() => again.count()).toBe(3)
  const badge = page.getByRole("navigation").getByRole("link", { name: /^Inbox/ })
  expect(await badge.innerText()).toContain("3")
  // The person is active on the page, and the card stays.
  await page.mouse.move(400, 300)
  await page.mouse.move(410, 310)
  await milk.getByRole("button", { name: "Dismiss" }).click()
  await expect.poll(() => milk.count()).toBe(0)
  await expect.poll(async () => (await ada.get(path)).body.seenAt).toBeTypeOf("string")
  await expect.poll(() => badge.innerText()).toContain("2")
  haveTime()
  const bread = page.getByRole("article", { name: /Create task "Bread"/ })
  await bread.getByRole("button", { name: "Propose again" }).click()
  await bread.getByRole("button", { name: "Approve", exact: true }).waitFor()
  await page.reload()
  await bread.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(await page.getByRole("button", { name: "Propose again" }).count()).toBe(1)
  await phone.page.reload()
  await again.waitFor()
  // It is not lost: its conversation still shows it.
  await page.getByRole("link", { name: "Shopping" }).first().click()
  const line = page.getByRole("group").filter({ hasText: /Create task "Milk"/ })
  await line.getByText("Expired").waitFor()
  await line.locator("summary").first().click()
  await line.getByRole("button", { name: "Propose again" }).waitFor()
  expect(faults).toEqual([])
})

test("several expired proposals are proposed again by one click, and approved by another", async () => {
  const both = calls(["create_task", { title: "Milk" }], ["create_task", { title: "Bread" }])
  const { haveTime, page, faults } = await begin(scripted(both, always(says("Both."))))
  await say(page, "two")
  const again = page.getByRole("button", { name: "Propose all again" })
  await again.waitFor()
  haveTime()
  await again.click()
  await page.getByRole("button", { name: "Approve all" }).click()
  await page.getByText("Both.").waitFor()
  expect(faults).toEqual([])
})

test("proposing one of several expired proposals again leaves the others visible, also after a reload", async () => {
  const { haveTime, page, faults } = await begin(scripted(three, always(says("All three."))))
  await say(page, "three")
  const again = page.getByRole("button", { name: "Propose again" })
  await page.getByRole("button", { name: "Propose all again" }).waitFor()
  await expect.poll(() => again.count()).toBe(3)
  haveTime()
  const card = page.getByRole("article", { name: /Create task "Bread"/ })
  await card.getByRole("button", { name: "Propose again" }).click()
  await card.getByRole("button", { name: "Approve", exact: true }).waitFor()
  const both = async () => [
    await again.count(),
    await page.getByRole("button", { name: "Approve", exact: true }).count(),
  ]
  await expect.poll(both).toEqual([2, 1])
  await page.reload()
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(await both()).toEqual([2, 1])
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await expect.poll(both).toEqual([2, 0])
  await page.reload()
  await again.first().waitFor()
  await expect.poll(both).toEqual([2, 0])
  expect(faults).toEqual([])
})

test("after a reload, proposing one of several expired proposals again leaves the others visible", async () => {
  const { haveTime, ada, page, faults } = await begin(scripted(three, always(says("I see."))))
  await say(page, "three")
  const again = page.getByRole("button", { name: "Propose again" })
  await page.getByRole("button", { name: "Propose all again" }).waitFor()
  await say(page, "never mind")
  await page.getByText("I see.").waitFor()
  await expect.poll(() => again.count()).toBe(3)
  haveTime()
  const card = page.getByRole("article", { name: /Create task "Bread"/ })
  await card.getByRole("button", { name: "Propose again" }).click()
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  await expect.poll(() => again.count()).toBe(2)
  await page.reload()
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  expect(await again.count()).toBe(2)
  await page.getByRole("button", { name: "Approve", exact: true }).click()
  await expect.poll(async () => (await ada.get("/api/workspace/tasks")).body.items.length).toBe(1)
  expect(await again.count()).toBe(2)
  await page.reload()
  await again.first().waitFor()
  await expect.poll(() => again.count()).toBe(2)
  expect(faults).toEqual([])
})

test("an expired proposal can be dismissed in its conversation, and is then one line", async () => {
  const { page, faults } = await begin(scripted(three, always(says("All three."))))
  await say(page, "three")
  await page.getByText("3 changes expired").waitFor()
  const milk = page.getByRole("article", { name: /Create task "Milk"/ })
  await milk.getByRole("button", { name: "Dismiss" }).click()
  const line = page.getByRole("group").filter({ hasText: /Create task "Milk"/ })
  await line.getByText("Expired").waitFor()
  await page.getByText("2 changes expired").waitFor()
  await page.getByRole("button", { name: "Dismiss all" }).click()
  await expect.poll(() => page.getByText("changes expired").count()).toBe(0)
  await expect.poll(() => page.getByRole("button", { name: /Dismiss|Propose/ }).count()).toBe(0)
  await page.reload()
  await line.getByText("Expired").waitFor()
  expect(await page.getByRole("button", { name: /Dismiss|Propose/ }).count()).toBe(0)
  expect(faults).toEqual([])
})
