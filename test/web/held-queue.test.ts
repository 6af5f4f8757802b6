import { expect, test } from "vitest"
import { PacedModel } from "../support/loop/paced-model.ts"
import { Site } from "../support/web/site.ts"
import { say } from "../support/web/talk.ts"

test("after a stop what waits can be sent now with one click, and while a run works there is no such button", async () => {
  const model = new PacedModel()
  await using site = await Site.open({ model })
  const { page, faults } = await site.visit()
  await say(page, "one")
  model.write("working")
  await page.getByText("working").waitFor()
  await say(page, "two")
  const queue = page.getByRole("list", { name: "Messages that wait" })
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
