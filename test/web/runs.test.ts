import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, finishes, replies, says } from "../../src/models/scripted/script.ts"
import { scripted } from "../../src/models/scripted/model.ts"
import { seriousFaultsInTurn } from "../support/web/serious-faults.ts"
import { oneVisit } from "../support/web/one-visit.ts"
import { go, say } from "../support/web/talk.ts"

const visit = oneVisit()
const used = { inputTokens: 1812, outputTokens: 44, cachedTokens: 1200, cost: 0.0031 }
const timeline = (page: Page) => page.getByRole("list", { name: "Timeline" })

test("what happened in a run is seen while it goes on, row by row, as the state in between, beside another, and by whoever has a link", async () => {
  const model = scripted(
    replies(calls("create_task", { title: "Buy milk" }), finishes("calls", used)),
    says("Milk is on your list."),
    says("Nothing else."),
  )
  const { page, ada, faults } = await visit.begin(model)
  const id = await ada.begin({ title: "Shopping" })
  const waiting = (await ada.say(id, "buy milk")).body
  await go(page, `/c/${id}`)
  await page.getByRole("button", { name: "More for this conversation" }).click()
  await page.getByRole("menuitem", { name: "What happened in its runs" }).click()
  await page.getByRole("list", { name: "Runs" }).getByRole("link").click()
  await timeline(page)
    .getByRole("button", { name: /Waits for a yes: Create task "Buy milk".*goes on/ })
    .waitFor()
  expect(await timeline(page).getByText("1,812 → 44 tokens, 1,200 cached, $0.0031").count()).toBe(1)

  // It is decided elsewhere, and the page follows.
  await ada.post(`/api/agent/proposals/${waiting.proposals[0].id}/commit`)
  await timeline(page)
    .getByRole("button", { name: /^Completed/ })
    .waitFor()
  await page.getByText(/The run (waits|goes on)/).waitFor({ state: "detached" })

  // By keys alone: to the line of the call, into it, and to the state that its end left.
  await timeline(page)
    .getByRole("button", { name: /^The run began/ })
    .focus()
  for (let line = 0; line < 5; line++) await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  const ended = timeline(page).getByRole("region", { name: /^Row/ }).last()
  await ended.getByText('"status": "ok"').waitFor()
  expect(await timeline(page).getByRole("region", { name: "Arguments" }).innerText()).toContain('"title": "Buy milk"')
  expect(await seriousFaultsInTurn(page)).toEqual([])
  await ended.getByRole("button", { name: "State behind it" }).click()
  const state = page.getByRole("region", { name: "State" })
  await state.getByText(/tool_end · changed .*openProposals/).waitFor()
  await state.getByText('"openProposals": []').waitFor()
  await state.getByRole("slider", { name: "Row" }).press("Home")
  await state.getByText(/run_started · changed/).waitFor()

  await page.getByRole("button", { name: "Rows", exact: true }).click()
  const lines = page.getByRole("list", { name: "Rows" }).locator("summary")
  await lines.first().focus()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.getByRole("region", { name: "Row 3" }).getByText('"text": "buy milk"').waitFor()

  // From a finished answer to its own run, and the first one beside it.
  await go(page, `/c/${id}`)
  await say(page, "anything else?")
  const answer = page.getByRole("article", { name: "Pawl" }).filter({ hasText: "Nothing else." })
  await answer.hover()
  await answer.getByRole("button", { name: "Details of this run" }).click()
  await timeline(page).getByText("Nothing else.").waitFor()
  expect(await timeline(page).getByText("Buy milk").count()).toBe(0)
  await page.getByRole("button", { name: "Beside another" }).click()
  await page.getByRole("dialog").getByRole("link").click()
  const second = page.getByRole("region", { name: "Second run" })
  await second.getByText(/Waits for a yes/).waitFor()
  const calledIn = page.getByRole("row", { name: "Calls made" }).getByRole("cell")
  expect(await calledIn.allInnerTexts()).toEqual(["0", "1"])

  // A link to it, which says before what it shows; opened, and taken back while somebody looks.
  await page.getByRole("link", { name: "Second run" }).click()
  await page.getByRole("button", { name: "Share" }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByText(/sees this run: your words in it, the replies, the calls/).waitFor()
  await dialog.getByLabel("It opens for").selectOption("a year")
  await dialog.getByRole("button", { name: "Make a link" }).click()
  const link = new URL(await dialog.getByRole("status").locator("code").innerText())
  await go(page, link.pathname + link.hash)
  await page.getByRole("heading", { name: "A run that was shared with you" }).waitFor()
  await timeline(page).getByText("Milk is on your list.").waitFor()
  expect(await page.getByRole("button", { name: "State" }).count()).toBe(0)
  expect(await page.getByRole("main").innerText()).not.toContain("Nothing else.")
  await go(page, "/settings/shared")
  await page.getByRole("button", { name: "Take back" }).click()
  await page.getByText("You share no run.").waitFor()
  await go(page, link.pathname + link.hash)
  await page.getByText(/may have taken the link back/).waitFor()

  await go(page, "/runs/run_0000000000000000000")
  await page.getByText("This is gone, or it is not yours.").waitFor()
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([])
})
