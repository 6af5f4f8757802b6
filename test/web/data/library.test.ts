import { expect, test } from "vitest"
import { says } from "../../../src/models/scripted/script.ts"
import { always, scripted } from "../../../src/models/scripted/model.ts"
import { WordEmbedder } from "../../support/word-embedder.ts"
import { seriousFaultsInTurn } from "../../support/web/serious-faults.ts"
import { Site } from "../../support/web/site.ts"
import { reopen } from "../../support/web/talk.ts"

test("documents are dropped into a collection, seen to be read in, and gone when they are removed", async () => {
  await using site = await Site.open({ model: scripted(always(says("ok"))), embedder: new WordEmbedder() })
  const { page, faults } = await site.visit({}, "/library")
  await page.getByRole("heading", { name: "No documents yet" }).waitFor()
  await page.getByLabel("Name of the collection").fill("<b>Wings</b>")
  await page.keyboard.press("Enter")
  const wings = page.getByRole("region", { name: "<b>Wings</b>" })
  await wings.getByText("0 documents, 0 passages").waitFor()

  const files = [
    { name: "lift.md", mimeType: "text/markdown", buffer: Buffer.from("# On lift\n\nLift grows with the angle.") },
    { name: "empty.pdf", mimeType: "application/pdf", buffer: Buffer.from("no pdf") },
  ]
  await wings.getByLabel("Documents", { exact: true }).setInputFiles(files)
  const document = wings.getByRole("listitem").filter({ hasText: "On lift" })
  await document.getByText(/lift\.md · 1 passage/).waitFor()
  await wings.getByText("Drop Markdown, text").waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])

  await reopen(page)
  await document.getByRole("button", { name: "Remove On lift" }).click()
  await document.waitFor({ state: "detached" })
  await wings.getByRole("button", { name: "Delete", exact: true }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
  await page.getByRole("heading", { name: "No documents yet" }).waitFor()
  expect(faults).toEqual([])
})
