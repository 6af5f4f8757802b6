import { expect, test } from "vitest"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { say } from "../browser/talk.ts"

const visit = oneVisit()

test("after a stop the queued messages can be sent with one click; during a run there is no such button", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "one")
  model.write("working")
  await page.getByText("working", { exact: true }).waitFor()
  await say(page, "two")
  const queue = page.getByRole("list", { name: "Queued messages" })
  await queue.getByText("two").waitFor()
  const send = queue.getByRole("button", { name: "Send now" })
  expect(await send.count()).toBe(0)
  await page.getByRole("button", { name: "Stop" }).click()
  await send.waitFor()
  expect(model.requests).toHaveLength(1)
  await send.click()
  await page.getByRole("article", { name: "You" }).getByText("two").waitFor()
  await queue.waitFor({ state: "hidden" })
  model.write("There it is.").end()
  await page.getByText("There it is.").waitFor()
  expect(model.requests).toHaveLength(2)
  expect(faults).toEqual([])
})
