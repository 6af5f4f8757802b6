import { expect, test } from "vitest"
import { says } from "../../src/models/scripted/script.ts"
import { always, scripted } from "../../src/models/scripted/model.ts"
import { png } from "../support/message-files/images.ts"
import { oneVisit } from "../support/web/one-visit.ts"
import { go } from "../support/web/talk.ts"

const visit = oneVisit()

test("files are chosen, left out, refused in words, sent, and there after a reload", async () => {
  const { page, faults } = await visit.begin(scripted(always(says("Seen."))))
  await go(page, "/")
  const chosen = page.getByRole("list", { name: "Files of this message" })
  const choose = (name: string, buffer: Buffer) =>
    page.getByLabel("Files to add").setInputFiles({ name, mimeType: "application/octet-stream", buffer })
  await choose("empty.txt", Buffer.alloc(0))
  await chosen.getByText("it is empty").waitFor()
  await page.getByRole("button", { name: "Leave out empty.txt" }).click()
  await choose("people.csv", Buffer.from("name\nAda\n"))
  await chosen.getByRole("button", { name: "Ask the analyst about it" }).waitFor()
  await choose("dot.png", png(8, 8))
  await page.getByRole("textbox", { name: "Message" }).fill("What is this?")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("Seen.").waitFor()
  await page.reload()
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
