import type { Page, Route } from "playwright-core"
import { expect, test } from "vitest"
import { says } from "../../../src/models/scripted/script.ts"
import { always, scripted } from "../../../src/models/scripted/model.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { pdf, png } from "../../support/message-files/images.ts"
import { oneVisit } from "../../support/web/one-visit.ts"
import { go, reopen, say } from "../../support/web/talk.ts"

const visit = oneVisit()

const chosenOn = (page: Page) => page.getByRole("list", { name: "Files of this message" })
const choose = (page: Page, ...files: { name: string; buffer: Buffer }[]) =>
  page
    .getByLabel("Files to add")
    .setInputFiles(files.map((file) => ({ ...file, mimeType: "application/octet-stream" })))
const text = (name: string) => ({ name, buffer: Buffer.from(`This is ${name}.`) })

test("files are chosen, left out, refused in words, sent, and there when it is opened again", async () => {
  const { page, faults } = await visit.begin(scripted(always(says("Seen."))))
  await go(page, "/")
  const chosen = chosenOn(page)
  await choose(page, { name: "empty.txt", buffer: Buffer.alloc(0) })
  await chosen.getByText("it is empty").waitFor()
  await page.getByRole("button", { name: "Leave out empty.txt" }).click()
  await choose(page, { name: "people.csv", buffer: Buffer.from("name\nAda\n") })
  await chosen.getByRole("button", { name: "Ask the analyst about it" }).waitFor()
  await choose(page, { name: "dot.png", buffer: png(8, 8) })
  await page.getByRole("textbox", { name: "Message" }).fill("What is this?")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("Seen.").waitFor()
  await reopen(page)
  const said = page.getByRole("list", { name: "Files", exact: true })
  await said.getByText("dot.png").waitFor()
  expect(await said.getByRole("listitem").count()).toBe(2)
  // What is asked again in other words is asked with the same files.
  await page.getByRole("button", { name: "Edit and ask again" }).click()
  await page.getByRole("textbox", { name: "Your message" }).fill("What else is this?")
  await page.getByRole("button", { name: "Ask again", exact: true }).click()
  await page.getByRole("article", { name: "You", exact: true }).getByText("What else is this?").waitFor()
  await said.getByText("dot.png").waitFor()
  expect(await said.getByRole("listitem").count()).toBe(2)
  // The browser itself tells of the one that was refused.
  expect(faults.filter((fault) => !fault.includes("400 (Bad Request)"))).toEqual([])
})

test("three files are uploaded at a time, one that failed is tried again, and sending waits for them", async () => {
  const { page, faults } = await visit.begin(scripted(always(says("Seen."))))
  const held: Route[] = []
  await page.route("**/api/files", (route) => void held.push(route))
  const chosen = chosenOn(page)
  await choose(page, ...["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"].map(text))
  await expect.poll(() => chosen.getByText("Waits for its turn").count()).toBe(2)
  await expect.poll(() => held.length).toBe(3)
  await page.getByRole("textbox", { name: "Message" }).fill("What are these?")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("Sent as soon as 5 files have arrived.").waitFor()
  // One that waits is never sent; one that was begun makes room for the next.
  await page.getByRole("button", { name: "Leave out e.txt" }).click()
  await page.getByText("Sent as soon as 4 files have arrived.").waitFor()
  await held[1]!.abort()
  await chosen.getByText("could not be reached").waitFor()
  await expect.poll(() => held.length).toBe(4)
  for (const route of [held[3]!, held[2]!, held[0]!]) await route.continue()
  await page.getByText("Not sent: try again what did not arrive, or leave it out.").waitFor()
  await page.getByRole("button", { name: "Try again" }).click()
  await expect.poll(() => held.length).toBe(5)
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("Sent as soon as one file has arrived.").waitFor()
  await held[4]!.continue()
  await page.getByText("Seen.").waitFor()
  // In the order they were chosen, whichever was first.
  const said = page.getByRole("list", { name: "Files", exact: true }).getByRole("listitem")
  expect(await said.allInnerTexts()).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"])
  expect(faults.filter((fault) => !fault.includes("ERR_FAILED"))).toEqual([])
})

test("a message that is taken back comes back with its files, which are sent again without another upload", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  let uploads = 0
  await page.route("**/api/files", (route) => (uploads++, route.continue()))
  await say(page, "first")
  model.write("working")
  await page.getByText("working").waitFor()
  await choose(page, { name: "dot.png", buffer: png(8, 8) }, text("a.txt"))
  await expect.poll(() => chosenOn(page).getByText("Uploading").count()).toBe(0)
  await say(page, "second")
  const waiting = page.getByRole("list", { name: "Messages that wait" })
  await waiting.getByText("dot.png, a.txt").waitFor()
  await chosenOn(page).waitFor({ state: "detached" })
  await waiting.getByRole("button", { name: "Take this message back" }).click()
  await waiting.waitFor({ state: "detached" })
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("second")
  await chosenOn(page).getByText("a.txt").waitFor()
  // Not even a reload takes them away.
  await page.reload()
  await chosenOn(page).getByText("dot.png").waitFor()
  await page.getByRole("button", { name: "Leave out a.txt" }).click()
  await say(page, "second, changed")
  await waiting.getByText("dot.png", { exact: true }).waitFor()
  model.end()
  await page.getByRole("article", { name: "You" }).getByText("second, changed").waitFor()
  await page.getByRole("list", { name: "Files", exact: true }).getByText("dot.png").waitFor()
  expect(uploads).toBe(2)
  model.write("done").end()
  await page.getByText("done", { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test("a paper goes into a collection of the library, and a table to the analyst, without being chosen again", async () => {
  const { page, ada, faults } = await visit.begin(scripted())
  let uploads = 0
  await page.route("**/api/files", (route) => (uploads++, route.continue()))
  await choose(page, { name: "gliders.pdf", buffer: pdf("Gliders stall slowly.") })
  await chosenOn(page).getByRole("button", { name: "Put it into the library" }).click()
  const dialog = page.getByRole("dialog", { name: "Put it into the library" })
  await dialog.getByLabel("Name of the new collection").fill("Wings")
  await dialog.getByRole("button", { name: "Put it there" }).click()
  await chosenOn(page).getByRole("button", { name: "In the library: Wings" }).click()
  await page.getByRole("region", { name: "Wings" }).getByText("gliders.pdf").first().waitFor()
  expect(uploads).toBe(1)
  // What was chosen is still there for the message.
  await go(page, "/")
  await page.getByRole("button", { name: "Leave out gliders.pdf" }).click()
  await choose(page, { name: "people.csv", buffer: Buffer.from("name\nAda\n") })
  await chosenOn(page).getByRole("button", { name: "Ask the analyst about it" }).click()
  await page.getByRole("button", { name: "Make a database of it" }).click()
  await expect.poll(async () => (await ada.get("/api/connections")).body.items.length).toBe(1)
  await go(page, "/")
  await page.getByRole("button", { name: "Leave out people.csv" }).click()
  expect(faults).toEqual([])
})
