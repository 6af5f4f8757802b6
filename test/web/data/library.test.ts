import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { WordEmbedder } from "../../support/word-embedder.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { Site } from "../browser/site.ts"
import { reopen } from "../browser/talk.ts"

test("documents are dropped into a collection, show their indexing, and disappear when removed", async () => {
  await using site = await Site.open({ model: scripted(always(says("ok"))), embedder: new WordEmbedder() })
  const { page, faults } = await site.visit({}, "/library")
  await page.getByRole("heading", { name: "No documents yet" }).waitFor()
  await page.getByLabel("Collection name").fill("<b>Wings</b>")
  await page.keyboard.press("Enter")
  const wings = page.getByRole("region", { name: "<b>Wings</b>" })
  await wings.getByText("0 documents, 0 passages").waitFor()

  const files = [
    { name: "lift.md", mimeType: "text/markdown", buffer: Buffer.from("# On lift\n\nLift grows with the angle.") },
    { name: "empty.pdf", mimeType: "application/pdf", buffer: Buffer.from("no pdf") },
    { name: "nothing.md", mimeType: "text/markdown", buffer: Buffer.from("") },
  ]
  await wings.getByLabel("Documents", { exact: true }).setInputFiles(files)
  const document = wings.getByRole("listitem").filter({ hasText: "On lift" })
  await document.getByText(/lift\.md · 1 passage/).waitFor()
  await wings.getByText("Drop Markdown, text").waitFor()
  await wings.getByText("nothing.md: The file is empty.").waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])

  await reopen(page)
  await document.getByRole("button", { name: "Remove On lift" }).click()
  await document.waitFor({ state: "detached" })
  await wings.getByRole("button", { name: "Delete", exact: true }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
  await page.getByRole("heading", { name: "No documents yet" }).waitFor()
  expect(faults).toEqual([])
})

test("documents show their progress and errors, and failed uploads can be retried", async () => {
  const embedder = new WordEmbedder()
  const held = Promise.withResolvers<void>()
  embedder.held = held.promise
  await using site = await Site.open({ model: scripted(always(says("ok"))), embedder })
  const ada = await site.ada()
  const { id } = (await ada.post("/api/collections", { name: "Flight" })).body
  const { page, faults } = await site.visit({}, "/library")
  const flight = page.getByRole("region", { name: "Flight" })
  await flight.getByText("This collection is empty.").waitFor()

  // Added through the API: the page learns of it by the feed.
  const content = "# Lift\n\nIt grows.\n\n# Drag\n\nIt does too.\n\n# Stall\n\nThen it falls."
  await ada.post(`/api/collections/${id}/documents`, { name: "flight.md", content })
  await flight.getByText("0 of 3 passages indexed · time left unknown").waitFor()
  await flight.getByRole("progressbar", { name: "Indexing Flight" }).waitFor()
  embedder.failure = () => failure("overloaded", { provider: "The embedder" })
  held.resolve()
  await flight
    .getByRole("alert")
    .getByText(/The embedder .* Retrying automatically at /)
    .waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])
  embedder.failure = undefined
  await flight.getByText(/flight\.md · 3 passages/).waitFor()
  expect(await flight.getByRole("progressbar").count()).toBe(0)

  await page.route("**/documents", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()))
  const file = { name: "late.md", mimeType: "text/markdown", buffer: Buffer.from("# Late\n\nIt came late.") }
  await flight.getByLabel("Documents", { exact: true }).setInputFiles([file])
  await flight.getByText("1 file was not added:").waitFor()
  await page.unroute("**/documents")
  const sent = Promise.withResolvers<void>()
  await page.route("**/documents", async (route) => {
    if (route.request().method() === "POST") await sent.promise
    await route.continue()
  })
  await flight.getByRole("button", { name: "Retry" }).click()
  // Dropped while another upload is in progress.
  await page.evaluate(`{
    const given = new DataTransfer()
    given.items.add(new File(["# Wind"], "wind.md"))
    const place = document.querySelector("[aria-label='Flight'] .border-dashed")
    place.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }))
  }`)
  await page.getByText(/These files were not added/).waitFor()
  sent.resolve()
  await flight.getByText(/late\.md · 1 passage/).waitFor()
  expect(await flight.getByText("not added").count()).toBe(0)
  expect(faults.filter((fault) => !fault.includes("ERR_FAILED"))).toEqual([])
})
