import { expect, test } from "vitest"
import type { Model } from "../../../src/agent/model.ts"
import { calls, says } from "../../../src/models/scripted/script.ts"
import { always, scripted } from "../../../src/models/scripted/model.ts"
import { seriousFaultsInTurn } from "../../support/web/serious-faults.ts"
import { oneVisit } from "../../support/web/one-visit.ts"
import { go, reopen, say } from "../../support/web/talk.ts"

// what had expired was a dead end.

/** So short that a person can be waited for, and long enough to be seen before. */
const SECONDS = 2
const visit = oneVisit()

/** A page on which what is proposed expires soon; `haveTime` gives what is proposed from then on more of it. */
async function begin(model: Model) {
  const opened = await visit.begin(model)
  const { policy } = opened.site.face.pawl.ports
  Object.assign(policy, { proposalMinutes: SECONDS / 60 })
  return { ...opened, haveTime: () => Object.assign(policy, { proposalMinutes: 15 }) }
}

const milk = calls("create_task", { title: "Buy milk" })

test("what expires before the eyes offers one click that proposes it again, and nothing says any more that it waits", async () => {
  const { haveTime, ada, page, faults } = await begin(scripted(milk, always(says("I see."))))
  await say(page, "milk")
  const again = page.getByRole("button", { name: "Propose again" })
  await again.waitFor()
  const list = page.getByRole("navigation")
  expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0)
  await list.getByText("Waits, with nothing to decide").waitFor({ state: "attached" })
  expect(await list.getByText("Waits for you").count()).toBe(0)
  expect(await page.getByPlaceholder(/Decide above/).count()).toBe(0)
  expect(await seriousFaultsInTurn(page)).toEqual([])
  // The same after a reload, and from then on there is more time.
  await page.reload()
  await again.waitFor()
  haveTime()
  await again.click()
  const card = page.getByRole("region", { name: /Create task "Buy milk"/ })
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("I see.").waitFor()
  const { body } = await ada.get("/api/workspace/tasks")
  expect(body.items).toHaveLength(1)
  expect(faults).toEqual([])
})

test("what was settled as expired looks the same after a reload, and keeps its button until it was proposed again", async () => {
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

test("the inbox keeps what expired until somebody saw it, on whatever device", async () => {
  const { site, ada, page, faults } = await begin(scripted(milk, always(says("I see."))))
  const id = await ada.begin({ title: "Shopping" })
  const { body } = await ada.say(id, "milk")
  const [{ id: proposal }] = body.proposals
  const path = `/api/agent/proposals/${proposal}`
  await expect.poll(async () => (await ada.get(path)).body.status).toBe("expired")
  await go(page, "/inbox")
  const phone = await site.visit({ viewport: { width: 390, height: 844 } }, "/inbox")
  const card = page.getByRole("region", { name: /Create task "Buy milk"/ })
  await card.getByText("Expired", { exact: true }).waitFor()
  await phone.page.getByRole("button", { name: "Propose again" }).waitFor()
  const badge = page.getByRole("navigation").getByRole("button", { name: /^Inbox/ })
  expect(await badge.innerText()).toContain("1")
  expect((await ada.get(path)).body).not.toHaveProperty("seenAt")
  // Somebody is there: it was seen, here and there, and stays in view until they go.
  await page.mouse.move(400, 300)
  await page.mouse.move(410, 310)
  await expect.poll(async () => (await ada.get(path)).body.seenAt).toBeTypeOf("string")
  await expect.poll(() => badge.innerText()).toBe("Inbox")
  await card.getByRole("button", { name: "Propose again" }).waitFor()
  await phone.page.reload()
  await phone.page.getByText("Nothing waits for you").waitFor()
  // It is not lost: its conversation has it.
  await page.getByRole("link", { name: "Shopping" }).click()
  await page.getByRole("button", { name: "Propose again" }).waitFor()
  expect(faults).toEqual([])
})

test("several that expired are proposed again by one click, and approved by another", async () => {
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
